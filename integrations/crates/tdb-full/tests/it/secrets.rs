//! The output of the command on a store never contains a key, secret or token.

use std::process::{Command, Output, Stdio};

use tdb_store_testkit::{Access, Fault, Proxy, Server, What};

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI+SECRET/bPxRfiCY";
const TOKEN: &str = "FwoGZXIvYXdz/TOKEN+//////////w==";
const ARRAY: &str = "s3://bucket/arrays/depths";

const SCHEMA: &str = r#"
array_type = "sparse"

[[dimension]]
name = "position"
datatype = "uint32"
domain = [0, 999999]

[[attribute]]
name = "depth"
datatype = "float64"
"#;

struct Store {
    server: Server,
    proxy: Proxy,
    home: tempfile::TempDir,
}

impl Store {
    fn start() -> Self {
        let server = Server::start("bucket").unwrap();
        let proxy = Proxy::before(server.address()).unwrap();
        Self { server, proxy, home: tempfile::tempdir().unwrap() }
    }

    /// Runs the command with only these AWS variables.
    fn tdb(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let endpoint = self.proxy.endpoint();
        let command = Command::new(env!("CARGO_BIN_EXE_tdb"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("AWS_ENDPOINT_URL", endpoint)
            .envs(variables.iter().copied())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .output();
        let output = command.unwrap();
        let shown = shown(&output);
        for secret in [KEY, SECRET, TOKEN] {
            assert!(!shown.contains(secret), "{arguments:?} shows {secret}: {shown}");
        }
        output
    }
}

fn shown(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const SIGNED: &[(&str, &str)] =
    &[("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_SESSION_TOKEN", TOKEN)];

#[test]
fn output_contains_no_secret() {
    let store = Store::start();
    store.server.allow(Access { key: Some(KEY), token: Some(TOKEN), ..Access::default() });
    std::fs::write(store.home.path().join("schema.toml"), SCHEMA).unwrap();
    std::fs::write(store.home.path().join("rows.csv"), "position,depth\n7,1.5\n3,2.5\n").unwrap();
    for arguments in [
        vec!["create", ARRAY, "--schema", "schema.toml"],
        vec!["import", ARRAY, "rows.csv", "--stats"],
        vec![ARRAY, "--stats"],
        vec!["schema", ARRAY],
        vec!["fragments", ARRAY, "--stats"],
        vec!["read", ARRAY, "--stats"],
        vec!["read", ARRAY, "--range", "position=1..5", "--explain", "--stats"],
        vec!["read", ARRAY, "--range", "position=1..5", "--explain", "--run"],
        vec!["stats", ARRAY],
        vec!["verify", ARRAY],
        vec!["ls", "s3://bucket/arrays"],
    ] {
        let output = store.tdb(SIGNED, &arguments);
        assert!(output.status.success(), "{arguments:?}: {}", shown(&output));
    }
    let refused: [(Access, &str); 5] = [
        (Access { key: Some("another"), ..Access::default() }, "): check the keys"),
        (Access { is_expired: true, ..Access::default() }, "(ExpiredToken): check the keys"),
        (Access { token: Some("another"), ..Access::default() }, "the credentials are invalid or have expired"),
        (Access { region: Some("eu-west-1"), ..Access::default() }, "eu-west-1: set AWS_REGION to its region"),
        (Access { denied: Some(""), ..Access::default() }, "get permission"),
    ];
    for (access, reason) in refused {
        store.server.allow(access);
        for arguments in [vec!["schema", ARRAY], vec!["read", ARRAY, "--stats"], vec!["verify", ARRAY]] {
            let output = store.tdb(SIGNED, &arguments);
            let shown = shown(&output);
            assert!(!output.status.success(), "{arguments:?}: {shown}");
            assert!(shown.contains("s3://bucket/arrays/depths") && shown.contains(reason), "{arguments:?}: {shown}");
        }
    }
    // A proxy with the request repeated in the answer.
    store.server.allow(Access::default());
    store.proxy.fault(Fault::new(What::Echoed(403)));
    assert!(!store.tdb(SIGNED, &["schema", ARRAY]).status.success());
}

#[test]
fn missing_credentials_error_has_a_hint() {
    let store = Store::start();
    store.server.allow(Access { key: Some(KEY), ..Access::default() });
    let output = store.tdb(&[("AWS_SKIP_SIGNATURE", "true")], &["schema", ARRAY]);
    let shown = shown(&output);
    assert!(!output.status.success() && shown.contains("AWS_ACCESS_KEY_ID"), "{shown}");
}

#[test]
fn missing_bucket_is_an_error() {
    let store = Store::start();
    let output = store.tdb(SIGNED, &["schema", "s3://nothing/array"]);
    let shown = shown(&output);
    assert!(shown.contains("s3://nothing/array") && shown.contains("bucket or container does not exist"), "{shown}");
}
