//! Services receive an authorization that no message shows.

use crate::stub::{self, Stub};
use clariq_core::{Location, Result, bail};
use clariq_net::{Patience, Reply, Service, ServiceAccess};
use std::thread;
use std::time::Duration;

const AUTHORIZATION: &str = "ApiKey c2VjcmV0OnNlY3JldA==";
const SECRET: &str = "c2VjcmV0OnNlY3JldA==";

/// A server that answers a request with its own header `Authorization`.
fn server(status: u16) -> Stub {
    Stub::start(move |received, _| {
        let body = format!("you said {}", received.header("authorization").unwrap_or_default());
        stub::Reply::Status(status, "Retry-After: 0\r\n".to_owned(), body)
    })
}

fn service(server: &Stub, retries: u32) -> Service {
    let authorization = Some(AUTHORIZATION.to_owned());
    let access = ServiceAccess { authorization, ..ServiceAccess::default() };
    let patience = Patience { timeout: Duration::from_secs(5), retries };
    Service::new(format!("{}/search?q", server.url), access, patience)
}

fn error_of(status: u16, read: fn(&[u8]) -> Result<Reply<()>>) -> String {
    let error = service(&server(status), 0).ask("text/plain", "hello", 1 << 20, read).unwrap_err();
    format!("{error:?} {error}")
}

/// True if a request that is answered with a status is tried again.
fn is_tried_again(status: u16) -> bool {
    let server = server(status);
    let answer = service(&server, 1).ask("text/plain", "hello", 1 << 20, |_| Ok(Reply::Whole(())));
    assert_eq!(answer.is_ok(), (200..300).contains(&status), "{status}");
    server.received().len() > 1
}

/// 408, 429 and every 5xx.
#[test]
fn of_all_statuses_those_of_a_busy_server_are_tried_again() {
    let mut repeated = Vec::new();
    let statuses: Vec<u16> = (200..600).collect();
    // Each of them waits before it is tried again.
    for statuses in statuses.chunks(50) {
        thread::scope(|scope| {
            let tries = statuses.iter().map(|&status| scope.spawn(move || is_tried_again(status)));
            let tries: Vec<_> = tries.collect();
            for (status, is_repeated) in statuses.iter().zip(tries) {
                if is_repeated.join().unwrap() {
                    repeated.push(*status);
                }
            }
        });
    }
    assert_eq!(repeated, [&[408, 429][..], &(500..600).collect::<Vec<_>>()].concat());
}

#[test]
fn the_authorization_is_sent_and_shown_in_no_message() {
    let whole = service(&server(200), 0).ask("text/plain", "hello", 1 << 20, |answer| {
        Ok(Reply::Whole(String::from_utf8_lossy(answer).into_owned()))
    });
    assert_eq!(whole.unwrap(), format!("you said {AUTHORIZATION}"));
    // The body of a refusal of the key is not shown at all.
    for status in [401, 403] {
        let message = error_of(status, |_| Ok(Reply::Whole(())));
        assert!(message.contains(&format!("status {status}")), "{message}");
        assert!(!message.contains("you said"), "{message}");
    }
    let messages = [
        error_of(503, |_| Ok(Reply::Whole(()))),
        error_of(302, |_| Ok(Reply::Whole(()))),
        error_of(200, |answer| Ok(Reply::Busy(String::from_utf8_lossy(answer).into_owned()))),
        error_of(200, |answer| {
            let found = String::from_utf8_lossy(answer).into_owned();
            bail!(Location::file("x"), "JSON", found, "")
        }),
    ];
    for message in messages {
        assert!(!message.contains(SECRET), "{message}");
        assert!(message.contains("you said ") && message.contains("[authorization]"), "{message}");
    }
}
