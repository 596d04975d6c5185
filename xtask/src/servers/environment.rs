//! Environment variables that configure tests and programs for the servers.

use std::fs;
use std::path::Path;

use super::buckets::{BUCKET, REGION};
use super::kind::{ACCESS_KEY, ACCOUNT, ACCOUNT_KEY, SECRET_KEY, Server};
use super::place::folder;
use crate::Result;

/// Environment variables with their values.
pub type Variables = Vec<(&'static str, String)>;

/// Returns the environment variables for servers and ports.
///
/// `AWS_ENDPOINT_URL` supports only one S3 server. Therefore each S3 server gets an AWS profile.
pub fn of(servers: &[(Server, u16)]) -> Result<Variables> {
    let [config, credentials] = ["aws-config", "aws-credentials"].map(|name| folder().join(name));
    fs::write(&config, profiles(servers, true))?;
    fs::write(&credentials, profiles(servers, false))?;
    let text = |path: &Path| path.display().to_string();
    let mut variables = vec![
        ("AWS_CONFIG_FILE", text(&config)),
        ("AWS_SHARED_CREDENTIALS_FILE", text(&credentials)),
        // No metadata service exists, and waiting for one takes long.
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
    ];
    let stores: Vec<String> = servers.iter().filter_map(|(server, _)| url(*server)).collect();
    variables.push(("TDB_STORES", stores.join(" ")));
    for (server, port) in servers {
        let address = server.address(*port);
        match server {
            Server::Seaweedfs | Server::Moto => {}
            Server::Azurite => variables.extend(azurite(address)),
            Server::Wsgidav => {
                variables.extend([("TDB_WEBDAV", address), ("TDB_WEBDAV_FOLDER", text(&server.data()))]);
            }
        }
    }
    Ok(variables)
}

/// Returns the reference library's URI of a server's bucket, and the environment variables for this
/// server. Returns `None` for servers that arrays cannot be written to.
pub fn of_one(server: Server, port: u16) -> Option<(String, Variables)> {
    match server {
        Server::Seaweedfs | Server::Moto => Some((
            format!("s3://{BUCKET}"),
            vec![
                ("AWS_ENDPOINT_URL", server.address(port)),
                ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
                ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
                ("AWS_REGION", REGION.to_owned()),
                ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ],
        )),
        Server::Azurite => Some((format!("azure://{BUCKET}"), azurite(server.address(port)))),
        Server::Wsgidav => None,
    }
}

fn azurite(address: String) -> Variables {
    vec![
        ("AZURE_STORAGE_USE_EMULATOR", "true".to_owned()),
        ("AZURITE_BLOB_STORAGE_URL", address),
        ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY.to_owned()),
    ]
}

/// Returns the URL of a server's bucket, or `None` for servers that arrays cannot be written to.
fn url(server: Server) -> Option<String> {
    match server {
        Server::Seaweedfs | Server::Moto => Some(format!("s3://{BUCKET}?profile={}", server.name())),
        Server::Azurite => Some(format!("az://{BUCKET}")),
        Server::Wsgidav => None,
    }
}

/// Formats AWS profiles: with regions and endpoints, or with keys.
fn profiles(servers: &[(Server, u16)], is_config: bool) -> String {
    let s3 = servers.iter().filter(|(server, _)| server.is_s3());
    let profile = |(server, port): &(Server, u16)| match is_config {
        true => format!("[profile {}]\nregion = {REGION}\nendpoint_url = {}\n", server.name(), server.address(*port)),
        false => {
            format!("[{}]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n", server.name())
        }
    };
    s3.map(profile).collect()
}

#[cfg(test)]
mod tests {
    use super::{Server, of_one, profiles};

    #[test]
    fn each_s3_server_has_a_profile() {
        let servers = [(Server::Seaweedfs, 1000), (Server::Azurite, 1002), (Server::Moto, 1001)];
        let config = profiles(&servers, true);
        assert_eq!(config.matches("endpoint_url = http://127.0.0.1:100").count(), 2);
        assert!(config.contains("[profile moto]\n") && !config.contains("key"), "{config}");
        assert!(profiles(&servers, false).contains("[seaweedfs]\naws_access_key_id = "));
        let (uri, variables) = of_one(Server::Moto, 1001).expect("arrays are written there");
        assert!(uri.starts_with("s3://") && variables[0] == ("AWS_ENDPOINT_URL", "http://127.0.0.1:1001".to_owned()));
    }
}
