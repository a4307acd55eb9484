//! Services receive an authorization that no message shows.

use clariq_core::{Location, Result, bail};
use clariq_net::{Patience, Reply, Service, ServiceAccess};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const AUTHORIZATION: &str = "ApiKey c2VjcmV0OnNlY3JldA==";
const SECRET: &str = "c2VjcmV0OnNlY3JldA==";

/// Answers a request with its own header `Authorization`.
fn answer(mut stream: TcpStream, status: u16) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    let mut authorization = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        } else if name.eq_ignore_ascii_case("authorization") {
            value.clone_into(&mut authorization);
        }
    }
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    let body = format!("you said {authorization}");
    let size = body.len();
    let head = format!(
        "HTTP/1.1 {status} Test\r\nContent-Length: {size}\r\nRetry-After: 0\r\nConnection: close\r\n"
    );
    write!(stream, "{head}\r\n{body}").unwrap();
}

fn service(status: u16) -> Service {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/search?q", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, status)));
    let access =
        ServiceAccess { authorization: Some(AUTHORIZATION.to_owned()), ..ServiceAccess::default() };
    Service::new(url, access, Patience { timeout: Duration::from_secs(5), retries: 0 })
}

fn error_of(status: u16, read: fn(&[u8]) -> Result<Reply<()>>) -> String {
    let error = service(status).ask("text/plain", "hello", 1 << 20, read).unwrap_err();
    format!("{error:?} {error}")
}

/// True if a request that is answered with a status is tried again.
fn is_tried_again(status: u16) -> bool {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            answer(stream, status);
        }
    });
    let patience = Patience { timeout: Duration::from_secs(5), retries: 1 };
    let service = Service::new(url, ServiceAccess::default(), patience);
    let answer = service.ask("text/plain", "hello", 1 << 20, |_| Ok(Reply::Whole(())));
    assert_eq!(answer.is_ok(), (200..300).contains(&status), "{status}");
    count.load(Ordering::SeqCst) > 1
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
    let whole = service(200).ask("text/plain", "hello", 1 << 20, |answer| {
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
