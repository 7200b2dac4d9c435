//! `gristmill cluster join`, as far as files go.

use std::fs;

use super::World;
use crate::commands::add::Scope;
use crate::commands::join_cluster::{ClusterWishes, JoinError, prepare};
use crate::edit::EditError;

fn wishes(urls: &[&str]) -> ClusterWishes {
    ClusterWishes { urls: urls.iter().map(|url| (*url).to_owned()).collect(), ..ClusterWishes::default() }
}

#[test]
fn what_is_tried_is_what_is_written_and_the_rest_stays() {
    let before = "# mine\nlevel = \"production\"\n\n[cluster] # ours\nnats = \"tls://old.example.com\"\nlabels = [\"eu\"]\n";
    let world = World::new().user(before).file("home/.config/gristmill/.env", "NKEY=SUAB\n");
    let wanted = ClusterWishes {
        node: Some("gateway-1".to_owned()),
        nkey: Some("${NKEY}".to_owned()),
        ca: Some("ca.pem".into()),
        ..wishes(&["tls://a.example.com", "tls://b.example.com"])
    };
    let joining = prepare(&world.surroundings, &Scope::User, &wanted).expect("a table");
    assert_eq!(fs::read_to_string(&joining.path).unwrap(), before, "nothing is written yet");
    let settings = joining.cluster.settings.clone().expect("a cluster");
    assert_eq!((settings.urls.len(), settings.labels.len(), settings.name.as_str()), (2, 1, "gristmill"));
    assert_eq!(joining.cluster.variables.get("NKEY"), Some("SUAB"));
    assert_eq!(settings.ca, Some(world.path("home/project/ca.pem")));
    assert_eq!(joining.keys(), ["cluster.nats", "cluster.node", "cluster.nkey", "cluster.ca"]);
    assert!(joining.write().unwrap().is_some());
    let after = fs::read_to_string(&joining.path).unwrap();
    assert!(after.starts_with("# mine\nlevel = \"production\"\n\n[cluster] # ours\nnats = ["), "{after}");
    assert_eq!(world.load().config.cluster.settings, Some(settings));
    let again = prepare(&world.surroundings, &Scope::User, &wanted).expect("the same table");
    assert!(again.write().unwrap().is_none());
}

#[test]
fn a_file_that_is_not_there_is_made() {
    let world = World::new();
    let joining = prepare(&world.surroundings, &Scope::User, &wishes(&["nats://127.0.0.1:4222"])).unwrap();
    assert!(!joining.path.exists());
    joining.write().unwrap();
    let text = fs::read_to_string(&joining.path).unwrap();
    assert_eq!(text, "[cluster]\nnats = \"nats://127.0.0.1:4222\"\n");
}

#[test]
fn what_would_be_wrong_is_not_written() {
    let world = World::new().user("[servers.x]\ncomand = 'y'\n");
    let prepared = |wishes: &ClusterWishes| prepare(&world.surroundings, &Scope::User, wishes);
    assert!(prepared(&wishes(&["nats://localhost"])).is_ok(), "mistakes elsewhere are none of its business");
    let seed = ClusterWishes { nkey: Some("SUAB".to_owned()), ..wishes(&["nats://localhost"]) };
    for wrong in [wishes(&["nats://nats.example.com"]), seed] {
        let Err(JoinError::Mistakes(mistakes)) = prepared(&wrong) else { panic!("{wrong:?}") };
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    }
    let shared = Scope::File(world.write("home/project/.mcp.json", "{\"mcpServers\": {}}"));
    let joined = prepare(&world.surroundings, &shared, &wishes(&["nats://localhost"]));
    assert!(matches!(joined, Err(JoinError::OthersFile(_))), "{joined:?}");
    let yaml = Scope::File(world.write("home/project/x.yaml", "level: production\n"));
    let joined = prepare(&world.surroundings, &yaml, &wishes(&["nats://localhost"]));
    assert!(matches!(joined, Err(JoinError::Edit(EditError::ByHand(_)))), "{joined:?}");
}
