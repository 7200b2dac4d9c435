fn main() -> std::process::ExitCode {
    if let Some(code) = gristmill_worker::run_if_worker() { return code; }
    let cache = std::path::PathBuf::from("/tmp/lab/cache");
    let a = gristmill_worker::Artifact::in_cache(&cache).unwrap();
    let t = std::time::Instant::now();
    a.prepare(&std::env::current_exe().unwrap(), |_| {}).unwrap();
    eprintln!("prepare {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let d = gristmill_worker::direct::DirectEngine::load(&cache).unwrap();
    eprintln!("load {:?}", t.elapsed());
    for _ in 0..3 {
    let t = std::time::Instant::now();
    eprintln!("{:?}", d.run_fresh("import sys\nprint(1)\nsys.version"));
    eprintln!("fresh {:?}", t.elapsed());
    }
    std::process::ExitCode::SUCCESS
}
