//! A proxy for experiments. `proxy 127.0.0.1:8333 30 20` delays each response by 30 ms. Of 1000
//! requests, the proxy rejects 20, resets 20 before and 20 after execution, and truncates 20
//! responses. Prints the records every second.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use tdb_store_testkit::{Fault, Proxy, What};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let server: SocketAddr =
        arguments.next().ok_or("usage: proxy SERVER:PORT [DELAY-MS [FAULTS-PER-1000]]")?.parse()?;
    let mut number = || arguments.next().map_or(Ok(0), |number| number.parse::<u64>());
    let (delay, share) = (number()?, number()?);
    let proxy = Proxy::before(server)?;
    proxy.delay(Duration::from_millis(delay));
    for what in [What::Refused(503, "SlowDown"), What::Reset, What::DoneAndReset, What::Cut(200)] {
        proxy.fault(Fault::new(what).share(share));
    }
    println!("{}", proxy.endpoint());
    loop {
        thread::sleep(Duration::from_secs(1));
        let seen = proxy.take();
        if !seen.requests.is_empty() {
            println!("{seen}, {} connections, {} faults: {:?}", seen.connections, seen.faults, seen.by_method());
        }
    }
}
