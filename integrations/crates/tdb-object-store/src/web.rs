//! Workarounds for web servers.

use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};

use crate::Connector;

const NOT_IMPLEMENTED: u16 = 501;
const METHOD_NOT_ALLOWED: u16 = 405;

/// Connections to web servers, some of which do not support `PROPFIND`.
#[derive(Debug)]
pub(crate) struct WebConnector;

impl HttpConnector for WebConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Web(Connector::default().connect(options)?)))
    }
}

#[derive(Debug)]
struct Web(HttpClient);

#[async_trait::async_trait]
impl HttpService for Web {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut response = self.0.execute(request).await?;
        // `object_store` would retry "not implemented" for a minute, although the answer never
        // changes.
        if response.status().as_u16() == NOT_IMPLEMENTED
            && let Ok(refused) = METHOD_NOT_ALLOWED.try_into()
        {
            *response.status_mut() = refused;
        }
        Ok(response)
    }
}
