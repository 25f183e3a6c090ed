// Rust's reqwest, with the TLS that it has by default. preload.so leads it to the addresses.
use std::{collections::HashSet, env, error::Error, fs, io::BufRead, time::Duration};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{redirect::Policy, tls::Version, Body, Certificate, Client, Identity, Method, Proxy, Url};
use serde_json::{json, Value};

type Fault = Box<dyn Error>;

/// How a key in PKCS #8 begins.
const KEY: &str = "-----BEGIN PRIVATE KEY-----";

fn main() {
    for name in env::vars_os().map(|pair| pair.0).filter(|name| name.to_string_lossy().to_lowercase().ends_with("_proxy")) {
        env::remove_var(name);
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        env::remove_var(name);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    println!("{}", json!({"contract": 1, "name": "reqwest", "version": env!("REQWEST"), "codings": []}));
    for line in std::io::stdin().lock().lines() {
        let job: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let reply = match reason_to_leave(&job) {
            Some(why) => json!({"id": job["id"], "left": why}),
            None => json!({"id": job["id"], "results": runtime.block_on(answer(&job))}),
        };
        println!("{}", reply);
    }
}

fn reason_to_leave(job: &Value) -> Option<String> {
    let known = ["accept", "addresses", "certificate", "credentials", "follow", "headers", "proxy", "redirects", "resume", "versions"];
    let settings = &job["settings"];
    for (name, value) in settings.as_object().into_iter().flatten() {
        match name.as_str() {
            "decode" => return Some("it removes no content codings".into()),
            "accept" if *value != json!(["wrongName"]) => {
                return Some("it can be told to accept another name, and no other fault".into())
            }
            "versions" if value[0].as_str() < Some("1.2") => {
                return Some("its OpenSSL speaks no TLS before 1.2 at this level of security".into())
            }
            "versions" if value[0] == "1.3" => return Some("it cannot be told to demand TLS 1.3".into()),
            "credentials" if value["schemes"] != json!(["basic"]) => return Some("it knows Basic, and is told it".into()),
            "proxy" if value["digest"] == true => return Some("it answers no proxy by Digest".into()),
            "proxy" if value["addresses"] == true => return Some("it gives a proxy names only".into()),
            other if !known.contains(&other) => return Some(format!("it has no setting like `{}`", other)),
            _ => {}
        }
    }
    // It follows from https to http without being told.
    let mut redirects = settings["redirects"].as_object().into_iter().flatten();
    if let Some((name, _)) = redirects.find(|(name, _)| !["limit", "downgrade"].contains(&name.as_str())) {
        return Some(format!("it has no setting for redirects like `{}`", name));
    }
    if let Some(name) = keeps(job).into_iter().find(|name| !["connections", "cookies"].contains(name)) {
        return Some(format!("it keeps no {}", name));
    }
    let key = settings["certificate"].as_str().map(|path| fs::read_to_string(path).unwrap());
    if key.map_or(false, |text| !text.contains(KEY)) {
        return Some("it takes a key in PKCS #8 only".into());
    }
    if job.get("time").is_some() {
        return Some("its clock cannot be set".into());
    }
    let is_address = |endpoint: &str| endpoint.starts_with('[') || endpoint.parse::<std::net::SocketAddrV4>().is_ok();
    let mut places = job["connect"].as_object().into_iter().flatten();
    if places.any(|(endpoint, targets)| is_address(endpoint) && targets[1].is_string()) {
        return Some("it looks up no address".into());
    }
    let mut requests = job["requests"].as_array().into_iter().flatten();
    requests.any(|request| request.get("upgrade").is_some()).then(|| "it switches to no other protocol".into())
}

fn keeps(job: &Value) -> HashSet<&str> {
    job["keep"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

async fn answer(job: &Value) -> Vec<Value> {
    let places = job["connect"].as_object().unwrap().iter().map(|(endpoint, targets)| {
        let texts: Vec<&str> = targets.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        format!("{}={}", endpoint, texts.join(","))
    });
    let text = places.filter(|place| !place.ends_with('=')).collect::<Vec<_>>().join(";");
    env::set_var("CLIENT_CONNECT", if text.is_empty() { "none=127.0.0.1:0" } else { &text });
    let keep = keeps(job);
    let jar = std::sync::Arc::new(reqwest::cookie::Jar::default());
    let mut client = None;
    let mut results = Vec::new();
    for request in job["requests"].as_array().unwrap() {
        let jar = if keep.contains("cookies") { jar.clone() } else { Default::default() };
        let one = match client.take() {
            Some(kept) => Ok(kept),
            None => open(job, jar),
        };
        let result = match &one {
            Ok(found) => send(found, job, request).await,
            Err(fault) => Err(fault.to_string().into()),
        };
        results.push(result.unwrap_or_else(|fault: Fault| failed(&*fault)));
        // A client without a jar that is kept cannot be kept either.
        client = one.ok().filter(|_| keep.contains("connections"));
    }
    results
}

fn open(job: &Value, jar: std::sync::Arc<reqwest::cookie::Jar>) -> Result<Client, Fault> {
    let settings = &job["settings"];
    let limit = settings["redirects"]["limit"].as_u64();
    let policy = match (settings["follow"] == true, limit) {
        (false, _) => Policy::none(),
        (true, None) => Policy::default(),
        // It ends with an error when its number is reached.
        (true, Some(limit)) => Policy::limited(limit as usize + 1),
    };
    let mut made = Client::builder()
        .tls_built_in_root_certs(false)
        .redirect(policy)
        .default_headers(fields(&settings["headers"])?)
        .timeout(Duration::from_millis(job["timeout"].as_u64().unwrap()));
    for root in fs::read_to_string(job["roots"].as_str().unwrap())?.split_inclusive("-----END CERTIFICATE-----") {
        if root.contains("BEGIN") {
            made = made.add_root_certificate(Certificate::from_pem(root.as_bytes())?);
        }
    }
    if keeps(job).contains("cookies") {
        made = made.cookie_provider(jar);
    }
    if settings["versions"][1] == "1.2" {
        made = made.min_tls_version(Version::TLS_1_2).max_tls_version(Version::TLS_1_2);
    }
    if settings.get("accept").is_some() {
        made = made.danger_accept_invalid_hostnames(true);
    }
    if let Some(path) = settings["certificate"].as_str() {
        let pem = fs::read_to_string(path)?;
        let key = pem.find(KEY).ok_or("the file has no key")?;
        made = made.identity(Identity::from_pkcs8_pem(pem.as_bytes(), pem[key..].as_bytes())?);
    }
    made = match settings["proxy"]["at"].as_str() {
        None => made.no_proxy(),
        Some(at) => {
            let (proxy, told) = (Proxy::all(format!("http://{}", at))?, &settings["proxy"]);
            made.proxy(match (told["user"].as_str(), told["password"].as_str()) {
                (Some(user), Some(password)) => proxy.basic_auth(user, password),
                _ => proxy,
            })
        }
    };
    Ok(made.build()?)
}

async fn send(client: &Client, job: &Value, request: &Value) -> Result<Value, Fault> {
    let method = Method::from_bytes(&raw(request["method"].as_str().unwrap_or("GET")))?;
    let text = request["url"].as_str().unwrap();
    let mut made = client.request(method, text).headers(fields(&request["headers"])?);
    if let Some(content) = request["body"].as_str().map(raw) {
        let parts = futures_util::stream::iter([Ok::<_, std::io::Error>(content.clone())]);
        made = made.body(if request["stream"] == true { Body::wrap_stream(parts) } else { Body::from(content) });
    }
    let (told, first) = (&job["settings"]["credentials"], job["requests"][0]["url"].as_str().unwrap());
    if let (Some(user), Ok(url), Ok(first)) = (told["user"].as_str(), Url::parse(text), Url::parse(first)) {
        // Credentials are given with a request: with those for their origin.
        if url.origin() == first.origin() {
            made = made.basic_auth(user, told["password"].as_str());
        }
    }
    let found = made.send().await?;
    let (status, url) = (found.status().as_u16(), found.url().to_string());
    let version = format!("{:?}", found.version()).replace("HTTP/", "");
    let pairs = found.headers().iter().map(|(name, value)| json!([name.as_str(), latin1(value.as_bytes())]));
    let headers: Vec<Value> = pairs.collect();
    let content = found.bytes().await?;
    Ok(json!({"status": status, "version": version, "headers": headers, "body": latin1(&content), "url": url}))
}

fn fields(pairs: &Value) -> Result<HeaderMap, Fault> {
    let mut found = HeaderMap::new();
    for pair in pairs.as_array().into_iter().flatten() {
        let (name, value) = (raw(pair[0].as_str().unwrap()), raw(pair[1].as_str().unwrap()));
        found.append(HeaderName::from_bytes(&name)?, HeaderValue::from_bytes(&value)?);
    }
    Ok(found)
}

fn failed(fault: &(dyn Error + 'static)) -> Value {
    let mut kind = fault.downcast_ref::<reqwest::Error>().and_then(|found| match () {
        _ if found.is_timeout() => Some("timeout"),
        _ if found.is_redirect() && format!("{:?}", found).contains("TooManyRedirects") => Some("tooMany"),
        _ => None,
    });
    let (mut text, mut part) = (fault.to_string(), fault.source());
    while let Some(cause) = part {
        text = format!("{}: {}", text, cause);
        let refused = |found: &std::io::Error| found.kind() == std::io::ErrorKind::ConnectionRefused;
        if cause.downcast_ref::<std::io::Error>().map_or(false, refused) {
            kind = Some("refused");
        }
        part = cause.source();
    }
    let mut found = json!({"text": text});
    if let Some(kind) = kind {
        found["kind"] = kind.into();
    }
    json!({"error": found})
}

/// The bytes that the characters of a text stand for.
fn raw(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character as u32).expect("a character stands for no byte")).collect()
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
