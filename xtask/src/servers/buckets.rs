//! Makes a bucket on each server, and so waits until it does what it is asked: some listen before they can.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::kind::{ACCESS_KEY, ACCOUNT, ACCOUNT_KEY, SECRET_KEY, Server};
use super::place::python;
use crate::Result;

/// The name of the bucket or container on each server.
pub const BUCKET: &str = "tdb-tests";
/// The region that S3 servers say that they are in.
pub const REGION: &str = "us-east-1";

const PATIENCE: Duration = Duration::from_secs(60);

/// Takes address, bucket, region; the keys come by the environment.
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

/// Takes address, container, account; the key comes by the environment.
const AZURE: &str = r#"
import os, sys
from azure.storage.blob import ContainerClient
address, container, account = sys.argv[1:]
credential = {"account_name": account, "account_key": os.environ["ACCOUNT_KEY"]}
client = ContainerClient(f"{address}/{account}", container, credential=credential, retry_total=0)
if not client.exists():
    client.create_container()
"#;

/// Makes the bucket of a server, if there isn't one.
pub fn make(server: Server, port: u16) -> Result {
    let address = server.address(port);
    let (script, last) = match server {
        Server::Seaweedfs | Server::Moto => (S3, REGION),
        Server::Azurite => (AZURE, ACCOUNT),
        // A folder is all that it has.
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
            return Err(format!("no bucket: {}", said.trim().lines().last().unwrap_or_default()).into());
        }
        sleep(Duration::from_millis(500));
    }
}
