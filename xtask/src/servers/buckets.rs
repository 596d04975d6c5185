//! Creates a bucket on each server. This also waits until the server is ready, because some servers
//! listen before they can answer.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::kind::{ACCESS_KEY, ACCOUNT, ACCOUNT_KEY, SECRET_KEY, Server};
use super::place::python;
use crate::Result;

/// Name of the bucket or container on each server.
pub const BUCKET: &str = "tdb-tests";
/// The region of S3 servers.
pub const REGION: &str = "us-east-1";

const PATIENCE: Duration = Duration::from_secs(60);

/// A script with the arguments address, bucket and region. The keys are in environment variables.
const S3: &str = r#"
import sys, boto3
from botocore.config import Config
address, bucket, region = sys.argv[1:]
config = Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 0}, s3={"addressing_style": "path"})
s3 = boto3.client("s3", endpoint_url=address, region_name=region, config=config)
if bucket not in [known["Name"] for known in s3.list_buckets()["Buckets"]]:
    s3.create_bucket(Bucket=bucket)
s3.put_object(Bucket=bucket, Key="ready", Body=b"ready")
s3.delete_object(Bucket=bucket, Key="ready")
"#;

/// A script with the arguments address, container and account. The key is in an environment
/// variable.
const AZURE: &str = r#"
import os, sys
from azure.storage.blob import ContainerClient
address, container, account = sys.argv[1:]
credential = {"account_name": account, "account_key": os.environ["ACCOUNT_KEY"]}
client = ContainerClient(f"{address}/{account}", container, credential=credential, retry_total=0)
if not client.exists():
    client.create_container()
"#;

/// Creates the bucket of a server if it does not exist.
pub fn make(server: Server, port: u16) -> Result {
    let address = server.address(port);
    let (script, last) = match server {
        Server::Seaweedfs | Server::Moto => (S3, REGION),
        Server::Azurite => (AZURE, ACCOUNT),
        // WebDAV has only folders.
        Server::Wsgidav => return Ok(()),
    };
    let began = Instant::now();
    loop {
        let mut client = Command::new(python("python"));
        client.args(["-c", script, &address, BUCKET, last]);
        client.env("AWS_ACCESS_KEY_ID", ACCESS_KEY).env("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
        client.env("ACCOUNT_KEY", ACCOUNT_KEY);
        let output = client.output()?;
        if output.status.success() {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cannot create bucket: {}", said.trim().lines().last().unwrap_or_default()).into());
        }
        sleep(Duration::from_millis(500));
    }
}
