//! Answers as the server for Kubernetes gives them: pods of any namespace, one in full, and logs.

use serde_json::{Map, Value, json};

use super::{Answered, number_of};
use crate::{arguments, calendar, noise};

const SERVICES: [&str; 10] = [
    "checkout", "basket", "catalog", "search", "payments", "shipping", "mailer", "accounts", "media",
    "reports",
];
const COPIES: u64 = 6;
/// Lines of a pod's whole log.
const LOG_LINES: u64 = 6_000;
const EVENTS: [&str; 9] = [
    "request finished",
    "request finished",
    "request finished",
    "cache entry written",
    "cache entry read",
    "connection returned to the pool",
    "retrying after a lost connection",
    "upstream did not answer within 2000 ms",
    "queue is filling up",
];

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    match tool {
        "kubectl_get" => get(given).map(Some),
        "kubectl_logs" => logs(given).map(Some),
        _ => Ok(None),
    }
}

/// As JSON, in which a list has a few fields of each; or as `kubectl` writes names and its wide table.
fn get(given: &Map<String, Value>) -> Result<String, String> {
    if !matches!(arguments::text(given, "resourceType")?, "pod" | "pods") {
        return Err("only pods are scripted".to_owned());
    }
    let namespace = arguments::optional_text(given, "namespace")?.unwrap_or("default");
    let output = arguments::optional_text(given, "output")?.unwrap_or("json");
    if let Some(name) = arguments::optional_text(given, "name")? {
        return match output {
            "json" => Ok(format!("{:#}", pod(namespace, name))),
            other => written(&[name.to_owned()], other),
        };
    }
    let app = arguments::optional_text(given, "labelSelector")?.and_then(|label| label.strip_prefix("app="));
    let services = SERVICES.iter().filter(|service| app.is_none_or(|app| app == **service));
    let names: Vec<String> = services
        .flat_map(|service| (0..COPIES).map(move |copy| pod_name(namespace, service, copy)))
        .collect();
    if output != "json" {
        return written(&names, output);
    }
    let items = names.iter().map(|name| {
        json!({
            "name": name,
            "namespace": namespace,
            "kind": "Pod",
            "status": status(name),
            "createdAt": calendar::time_of(created(name)),
        })
    });
    Ok(format!("{:#}", json!({"items": items.collect::<Vec<_>>()})))
}

fn written(names: &[String], output: &str) -> Result<String, String> {
    let heading = match output {
        "name" => String::new(),
        "wide" => {
            format!("{:<26} {:<5} {:<16} {:<8} {:<4} NODE\n", "NAME", "READY", "STATUS", "RESTARTS", "AGE")
        }
        other => return Err(format!("no answer is scripted for the output {}", arguments::shown(other))),
    };
    let line = |name: &String| {
        let (status, days) = (status(name), (calendar::this_morning() - created(name)) / 86_400);
        let age = format!("{days}d");
        let ready = if status == "Running" { "1/1" } else { "0/1" };
        match output {
            "name" => format!("pod/{name}\n"),
            _ => format!(
                "{name:<26} {ready:<5} {status:<16} {:<8} {age:<4} node-{:02}\n",
                restarts(name),
                number_of(name) % 12
            ),
        }
    };
    Ok(heading + &names.iter().map(line).collect::<String>())
}

fn pod_name(namespace: &str, service: &str, copy: u64) -> String {
    let seed = number_of(&format!("{namespace}/{service}"));
    format!("{service}-{:09x}-{:05x}", noise::at(seed, 0, 0) >> 28, noise::at(seed, 1, copy) >> 44)
}

fn created(name: &str) -> i64 {
    calendar::this_morning() - (3_600 + number_of(name) % 900_000).cast_signed()
}

fn restarts(name: &str) -> u64 {
    if number_of(name).is_multiple_of(7) { 3 + number_of(name) % 40 } else { 0 }
}

fn status(name: &str) -> &'static str {
    if restarts(name) > 20 { "CrashLoopBackOff" } else { "Running" }
}

fn pod(namespace: &str, name: &str) -> Value {
    let (seed, service) = (number_of(name), service_of(name));
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": calendar::time_of(created(name)),
            "generateName": format!("{service}-"),
            "labels": {"app": service, "pod-template-hash": format!("{:09x}", seed >> 28)},
            "name": name,
            "namespace": namespace,
            "ownerReferences": [{
                "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet",
                "name": service, "uid": uid(seed, 1),
            }],
            "resourceVersion": (seed % 90_000_000).to_string(),
            "uid": uid(seed, 2),
        },
        "spec": pod_spec(name),
        "status": pod_status(name),
    })
}

fn pod_spec(name: &str) -> Value {
    let (seed, service) = (number_of(name), service_of(name));
    json!({
        "containers": [{
            "env": [
                {"name": "LOG_LEVEL", "value": "info"},
                {"name": "DATABASE_URL", "valueFrom": {"secretKeyRef": {"key": "url", "name": format!("{service}-database")}}},
            ],
            "image": format!("registry.example.com/shop/{service}:2026.6.{}", seed % 9),
            "imagePullPolicy": "IfNotPresent",
            "livenessProbe": {"failureThreshold": 3, "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
            "name": service,
            "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
            "terminationMessagePath": "/dev/termination-log",
        }],
        "dnsPolicy": "ClusterFirst",
        "nodeName": format!("node-{:02}", seed % 12),
        "restartPolicy": "Always",
        "serviceAccountName": service,
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}],
    })
}

fn pod_status(name: &str) -> Value {
    let (seed, service) = (number_of(name), service_of(name));
    let address = |place: u64| {
        format!("10.42.{}.{}", noise::below(seed, place, 1, 40), 2 + noise::below(seed, place, 2, 250))
    };
    let started = calendar::time_of(created(name) + 12);
    let condition = |kind: &str| json!({"lastProbeTime": null, "lastTransitionTime": started, "status": "True", "type": kind});
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    json!({
        "conditions": conditions,
        "containerStatuses": [{
            "containerID": format!("containerd://{:016x}{:016x}", noise::at(seed, 3, 0), noise::at(seed, 3, 1)),
            "image": format!("registry.example.com/shop/{service}:2026.6.{}", seed % 9),
            "lastState": {},
            "name": service,
            "ready": status(name) == "Running",
            "restartCount": restarts(name),
            "started": true,
            "state": {"running": {"startedAt": started}},
        }],
        "hostIP": address(4),
        "phase": "Running",
        "podIP": address(5),
        "qosClass": "Burstable",
        "startTime": started,
    })
}

fn service_of(pod: &str) -> &str {
    pod.split('-').next().unwrap_or(pod)
}

fn uid(seed: u64, place: u64) -> String {
    let (high, low) = (noise::at(seed, place, 10), noise::at(seed, place, 11));
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high & 0xffff,
        low & 0xfff,
        (low >> 12) & 0xfff,
        low >> 16
    )
}

fn logs(given: &Map<String, Value>) -> Result<String, String> {
    let name = arguments::text(given, "name")?;
    let seed = number_of(name);
    let tail = arguments::whole(given, "tail", LOG_LINES, [1, 1_000_000])?.min(LOG_LINES);
    let mut text = String::new();
    for line in LOG_LINES - tail..LOG_LINES {
        let event = noise::pick(EVENTS, seed, line, 0);
        let level = match event {
            "upstream did not answer within 2000 ms" => "ERROR",
            "retrying after a lost connection" | "queue is filling up" => "WARN",
            _ => "INFO",
        };
        let at = calendar::time_of(calendar::this_morning() - ((LOG_LINES - line) * 3).cast_signed());
        text.push_str(&format!(
            "{at} {level} request={:06x} customer={} ms={} {event}\n",
            noise::at(seed, line, 1) >> 40,
            1 + noise::below(seed, line, 2, 5_000),
            4 + noise::below(seed, line, 3, 1_900),
        ));
    }
    Ok(text)
}
