//! A small in-memory S3 server.

mod access;
mod answers;
mod body;
mod files;
mod list;
mod objects;
mod uploads;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::{Method, Request, Response, StatusCode};

use crate::serving::{Answer, Answering, Answers, Serving};
use answers::{Refused, answer_of};
use objects::{Bucket, Objects};

pub use access::Access;

/// A small in-memory S3 server with one bucket.
///
/// Supports objects, ranges, write conditions, paged listings, multipart uploads, copies and bulk
/// deletions. Checks keys, tokens and regions like Amazon's servers, but no signatures.
#[derive(Debug)]
pub struct Server {
    serving: Serving,
    inside: Arc<Inside>,
}

#[derive(Debug)]
struct Inside {
    bucket: String,
    access: Mutex<Access>,
    objects: Mutex<Objects>,
}

impl Server {
    /// Serves an empty bucket with this name. Everyone has access.
    ///
    /// # Errors
    /// No port is available.
    pub fn start(bucket: &str) -> io::Result<Self> {
        let inside = Arc::new(Inside {
            bucket: bucket.to_owned(),
            access: Mutex::new(Access::default()),
            objects: Mutex::default(),
        });
        Ok(Self { serving: Serving::start(inside.clone())?, inside })
    }

    /// Returns the listening address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.serving.address()
    }

    /// Replaces the access rules.
    pub fn allow(&self, access: Access) {
        *lock(&self.inside.access) = access;
    }

    /// Returns the names of the objects, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        lock(&self.inside.objects).bucket.keys().cloned().collect()
    }

    /// Returns the contents of an object. `None` if the object does not exist.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<Bytes> {
        lock(&self.inside.objects).bucket.get(name).map(|object| object.bytes.clone())
    }

    /// Creates or replaces an object.
    pub fn put(&self, name: &str, bytes: impl Into<Bytes>) {
        lock(&self.inside.objects).bucket.insert(name.to_owned(), objects::Object::new(bytes.into()));
    }

    /// Removes an object. Returns `true` if the object existed.
    pub fn remove(&self, name: &str) -> bool {
        lock(&self.inside.objects).bucket.remove(name).is_some()
    }

    /// Returns the number of multipart uploads in progress.
    #[must_use]
    pub fn uploads(&self) -> usize {
        lock(&self.inside.objects).uploads.len()
    }
}

impl Answers for Inside {
    fn answer(self: Arc<Self>, request: Request<Bytes>) -> Answering {
        let is_head = *request.method() == Method::HEAD;
        let request = body::unframed(request);
        let response = self.done(&request).unwrap_or_else(|refused| answer_of(&refused, is_head));
        Box::pin(async move { Answer::Whole(response) })
    }
}

impl Inside {
    fn done(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Refused> {
        let path = percent_encoding::percent_decode_str(request.uri().path()).decode_utf8_lossy().into_owned();
        let (bucket, key) = path.trim_start_matches('/').split_once('/').unwrap_or((path.trim_matches('/'), ""));
        lock(&self.access).judge(request, key)?;
        if bucket != self.bucket {
            return Err(Refused::new(StatusCode::NOT_FOUND, "NoSuchBucket", "The specified bucket does not exist"));
        }
        let query = request.uri().query().unwrap_or_default();
        let parameter = |name: &str| {
            url::form_urlencoded::parse(query.as_bytes())
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let mut objects = lock(&self.objects);
        let upload = parameter("uploadId");
        match (request.method(), upload) {
            (&Method::GET, None) if key.is_empty() => Ok(list::listing(&objects.bucket, parameter)),
            (&Method::GET | &Method::HEAD, None) => files::get(&objects.bucket, key, request),
            (&Method::PUT, Some(id)) => uploads::part(&mut objects, &id, parameter("partNumber"), request.body()),
            (&Method::PUT, None) => self.put_or_copy(&mut objects.bucket, key, request),
            (&Method::POST, None) if parameter("delete").is_some() => {
                Ok(files::delete_many(&mut objects.bucket, request))
            }
            (&Method::POST, None) if parameter("uploads").is_some() => {
                Ok(uploads::begin(&mut objects, key, request.headers()))
            }
            (&Method::POST, Some(id)) => uploads::complete(&mut objects, key, &id, request),
            (&Method::DELETE, Some(id)) => uploads::abort(&mut objects, &id),
            (&Method::DELETE, None) => Ok(files::delete(&mut objects.bucket, key)),
            _ => Err(Refused::new(
                StatusCode::NOT_IMPLEMENTED,
                "NotImplemented",
                "The server does not support the request",
            )),
        }
    }

    fn put_or_copy(
        &self,
        bucket: &mut Bucket,
        key: &str,
        request: &Request<Bytes>,
    ) -> Result<Response<Bytes>, Refused> {
        match request.headers().get("x-amz-copy-source") {
            Some(from) => files::copy(bucket, &self.bucket, from, key),
            None => files::put(bucket, key, request),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
