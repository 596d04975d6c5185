//! Access rules.

use bytes::Bytes;
use hyper::{Request, StatusCode};

use super::answers::Refused;

/// Access rules of a server. By default, everyone may do everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// The required key.
    pub key: Option<&'static str>,
    /// The required token.
    pub token: Option<&'static str>,
    /// `true` to treat all tokens as expired.
    pub is_expired: bool,
    /// The region that signatures have to name. Errors name the region.
    pub region: Option<&'static str>,
    /// `true` to respond to a wrong region with a redirect without a target, like Amazon's servers.
    pub redirects: bool,
    /// Denies access to objects with this text in the name.
    pub denied: Option<&'static str>,
}

impl Access {
    pub(super) fn judge(&self, request: &Request<Bytes>, key: &str) -> Result<(), Refused> {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        // AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/s3/aws4_request, SignedHeaders=…, Signature=…
        let credential =
            header("authorization").and_then(|signed| signed.split_once("Credential=")?.1.split(',').next());
        let mut scope = credential.unwrap_or_default().split('/');
        let (signer, region) = (scope.next().unwrap_or_default(), scope.nth(1).unwrap_or_default());
        if let Some(wanted) = self.key {
            if credential.is_none() {
                return Err(Refused::new(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied"));
            }
            if signer != wanted {
                // Amazon's error repeats the key.
                let message = format!("The AWS Access Key Id {signer} you provided does not exist in our records.");
                return Err(Refused::new(StatusCode::FORBIDDEN, "InvalidAccessKeyId", message));
            }
        }
        let token = header("x-amz-security-token").unwrap_or_default();
        if self.is_expired {
            // Amazon's error also repeats the token.
            let message = format!("The provided token has expired.</Message><Token-0>{token}</Token-0><Message>");
            return Err(Refused::new(StatusCode::BAD_REQUEST, "ExpiredToken", message));
        }
        if self.token.is_some_and(|wanted| wanted != token) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "InvalidToken", "The provided token is malformed."));
        }
        self.judge_region(region)?;
        if self.denied.is_some_and(|denied| key.contains(denied)) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied"));
        }
        Ok(())
    }

    fn judge_region(&self, region: &str) -> Result<(), Refused> {
        let Some(wanted) = self.region.filter(|wanted| *wanted != region) else { return Ok(()) };
        let (status, code) = match self.redirects {
            true => (StatusCode::MOVED_PERMANENTLY, "PermanentRedirect"),
            false => (StatusCode::BAD_REQUEST, "AuthorizationHeaderMalformed"),
        };
        let message =
            format!("The authorization header is malformed; the region '{region}' is wrong; expecting '{wanted}'");
        Err(Refused { region: Some(wanted.to_owned()), ..Refused::new(status, code, message) })
    }
}
