//! Refused requests: each cause has a separate error, with the name of the file and no secret.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use tdb_array::ArrayOptions;
use tdb_object_store::{ObjectStorage, StoreProblem, object_store, open};
use tdb_storage::{Request, Storage, StorageError};
use tdb_store_testkit::{Access, Fault, Method, What};

use crate::arrays::{count, create, try_write_at, write};
use crate::watched::{BUCKET, KEY, SECRET, TOKEN, Watched, bytes, problem};

/// Returns the errors of all operations. Each has to fail.
fn asked(storage: &Arc<dyn Storage>) -> Vec<StorageError> {
    let mut errors: Vec<StorageError> = storage
        .fetch(&[Request::all("a/f", 1000), Request::last("a/f", 10), Request::range("a/f", 0..5, 10)])
        .into_iter()
        .map(|answer| answer.unwrap_err())
        .collect();
    errors.push(storage.list("a").unwrap_err());
    errors.push(storage.kind("a").unwrap_err());
    errors.push(storage.create_new("a/g", b"bytes").unwrap_err());
    errors.push(storage.remove_folder("a").unwrap_err());
    errors.push(storage.rename("a", "b").unwrap_err());
    let mut file = storage.create_file("a/h").unwrap();
    errors.push(file.append(&bytes(6 << 20)).and_then(|()| file.finish()).unwrap_err());
    errors
}

/// Returns the problems of all operations. Checks for side effects and for secrets in messages.
fn problems(watched: &Watched, storage: &Arc<dyn Storage>) -> Vec<StoreProblem> {
    watched.server.put("root/a/f", bytes(10));
    let errors = asked(storage);
    assert_eq!(watched.server.names(), ["root/a/f"]);
    for error in &errors {
        let text = format!("{error} {error:?} {storage:?}");
        assert!(error.path().starts_with("s3://bucket/root/"), "{text}");
        for secret in [KEY, SECRET, TOKEN] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    errors.iter().map(problem).cloned().collect()
}

#[test]
fn keys_and_tokens() {
    for access in [
        Access { key: Some("another"), ..Access::default() },
        Access { token: Some("another"), ..Access::default() },
        Access { is_expired: true, ..Access::default() },
    ] {
        let watched = Watched::start();
        watched.server.allow(access);
        for problem in problems(&watched, &watched.storage()) {
            // HEAD responses have no message. Amazon returns "bad request" for an expired token.
            let is_bare =
                matches!(&problem, StoreProblem::Other { said } | StoreProblem::Denied { said } if said.len() < 20);
            assert!(matches!(problem, StoreProblem::Unauthenticated { .. }) || is_bare, "{problem}");
        }
    }
}

#[test]
fn no_permission() {
    let watched = Watched::start();
    watched.server.allow(Access { denied: Some(""), ..Access::default() });
    for problem in problems(&watched, &watched.storage()) {
        assert!(matches!(problem, StoreProblem::Denied { .. }), "{problem}");
    }
}

#[test]
fn no_such_bucket() {
    let watched = Watched::start();
    let storage = watched.storage_by(watched.builder().with_bucket_name("nothing"));
    let no_bucket = |error: StorageError| StoreProblem::of(&error) == Some(&StoreProblem::NoBucket);
    assert!(no_bucket(storage.list("a").unwrap_err()));
    assert!(no_bucket(storage.read("a").unwrap_err()) || storage.read("a").unwrap_err().is_not_found());
    assert!(no_bucket(storage.kind("a").unwrap_err()));
    assert!(no_bucket(storage.create_new("a", b"").unwrap_err()));
    let error = ArrayOptions::new().open_on(storage).unwrap_err().to_string();
    assert!(error.contains("s3://bucket/root") && error.contains("bucket or container does not exist"), "{error}");
}

#[test]
fn another_region() {
    for (access, region) in [
        (Access { region: Some("eu-west-1"), ..Access::default() }, Some("eu-west-1")),
        (Access { region: Some("eu-west-1"), redirects: true, ..Access::default() }, None),
    ] {
        let watched = Watched::start();
        watched.server.allow(access);
        let storage = watched.storage();
        for error in [storage.list("a").unwrap_err(), storage.read("f").unwrap_err()] {
            let StoreProblem::WrongRegion { region: named } = problem(&error) else { panic!("{error:?}") };
            assert_eq!(named.as_deref(), region);
            assert!(error.to_string().contains("AWS_REGION"), "{error}");
        }
    }
}

/// The error for an unsigned request suggests setting credentials.
#[test]
fn requests_without_signatures() {
    let watched = Watched::start();
    watched.server.allow(Access { key: Some("somebody"), ..Access::default() });
    // Like a URL opened without credentials, except that the environment of the test process is not
    // changed.
    let error = unsigned(&watched);
    assert!(matches!(problem(&error), StoreProblem::Denied { .. }), "{error}");
    // A store with a page as answer, like proxies.
    watched.server.allow(Access::default());
    watched.proxy.fault(Fault::new(What::Refused(401, "")));
    let error = unsigned(&watched);
    assert!(matches!(problem(&error), StoreProblem::Unauthenticated { .. }), "{error}");
}

fn unsigned(watched: &Watched) -> StorageError {
    let builder = AmazonS3Builder::new()
        .with_endpoint(watched.proxy.endpoint())
        .with_allow_http(true)
        .with_bucket_name(BUCKET)
        .with_skip_signature(true);
    let storage = ObjectStorage::new(Arc::new(builder.build().unwrap()), "s3://bucket", "root").unwrap();
    storage.list("a").unwrap_err()
}

/// Names of files and folders do not affect the reported cause.
#[test]
fn names_like_error_codes_do_not_matter() {
    let watched = Watched::start();
    for name in [
        "NoSuchBucket",
        "ExpiredToken",
        "PermanentRedirect",
        "SlowDown",
        "AccessDenied",
        "status code: 403 response body",
        "Server returned non-2xx status code: 503: <Code>NoSuchBucket<",
    ] {
        let storage = watched.storage().sub(name).unwrap();
        let errors = |storage: &dyn Storage| {
            let mut file = storage.create_file("large").unwrap();
            let errors = [
                storage.list("InternalError").unwrap_err(),
                storage.read("InternalError").unwrap_err(),
                storage.fetch_one(&Request::range("InternalError", 0..5, 10)).unwrap_err(),
                storage.rename("InternalError", "x").unwrap_err(),
            ];
            (errors, file.append(&bytes(6 << 20)).and_then(|()| file.finish()))
        };
        watched.server.allow(Access::default());
        let (missing, written) = errors(&*storage);
        for error in missing {
            assert!(matches!(error, StorageError::NotFound { .. }), "{error:?}");
        }
        written.unwrap();
        storage.remove_file("large").unwrap();
        watched.server.allow(Access { denied: Some(""), ..Access::default() });
        let (refused, written) = errors(&*storage);
        for error in refused.into_iter().chain([written.unwrap_err()]) {
            assert!(matches!(problem(&error), StoreProblem::Denied { .. }), "{error:?}");
        }
        watched.proxy.fault(Fault::new(What::Said(400, b"<Error><Code>Weird</Code></Error>")));
        let (failed, written) = errors(&*storage);
        for error in failed.into_iter().chain([written.unwrap_err()]) {
            assert!(matches!(problem(&error), StoreProblem::Other { .. }), "{error:?}");
        }
        watched.proxy.calm();
    }
}

/// One of several files cannot be deleted. The status of the response is success.
#[test]
fn denied_removals_are_errors() {
    let watched = Watched::start();
    watched.server.put("root/a/f", bytes(10));
    let answer = b"<DeleteResult><Error><Key>root/a/f</Key><Code>AccessDenied</Code><Message>No</Message></Error></DeleteResult>";
    watched.proxy.fault(Fault::new(What::Said(200, answer)).on(Method::POST));
    let error = watched.storage().remove_folder("a").unwrap_err();
    assert!(matches!(problem(&error), StoreProblem::Denied { .. }), "{error:?}");
    assert!(error.to_string().starts_with("s3://bucket/root/a: "), "{error}");
}

/// No server at the address.
#[test]
fn missing_server_is_an_error() {
    let (watched, storage) = Watched::open();
    drop(watched);
    let error = storage.list("").unwrap_err();
    assert!(matches!(problem(&error), StoreProblem::CutOff { .. }), "{error}");
    assert!(error.to_string().starts_with("s3://bucket/root: "), "{error}");
}

/// Invalid addresses that contain secrets.
#[test]
fn invalid_addresses_hide_secrets() {
    for url in [
        "ftp://user:SECRET@host/a?sig=SECRET",
        "az://container/a?sig=SECRET",
        "https://account.nowhere.example/container?sig=SECRET#SECRET",
        "s3://user:SECRET@",
        "abfss://a b?sig=SECRET",
        "gs://?SECRET",
    ] {
        let shown = match open(url) {
            Ok(storage) => format!("{storage:?} {}", storage.describe("f")),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    let error = open("ftp://user:SECRET@host/a").unwrap_err().to_string();
    assert!(error.starts_with("ftp://host/a: unknown scheme, expected one of s3,"), "{error}");
}

/// Errors of arrays name the refused file.
#[test]
fn array_errors_name_the_refused_file() {
    let (watched, storage) = Watched::open();
    create(&storage);
    write(&storage, 0);
    for part in ["__schema", "__commits", "__fragments"] {
        watched.server.allow(Access { denied: Some(part), ..Access::default() });
        // A new storage, because cached files are not requested again.
        // A listing is denied by prefix, which the test server does not check. It only checks
        // files.
        match count(&ArrayOptions::new(), &watched.storage()) {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("s3://bucket/root/") && error.contains(part), "{error}");
                assert!(error.contains("access denied"), "{error}");
            }
            Ok(_) => assert_eq!(part, "__commits"),
        }
    }
    watched.server.allow(Access { denied: Some("__fragments"), ..Access::default() });
    let error = try_write_at(&storage, &[1]).unwrap_err();
    assert!(error.contains("access denied"), "{error}");
}
