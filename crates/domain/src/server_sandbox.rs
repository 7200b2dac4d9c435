//! What is configured about one server's sandbox: `[servers.x.sandbox]`.

use std::net::IpAddr;
use std::path::PathBuf;

use crate::glob::Glob;
use crate::levels::Level;

/// Whether a stdio server is confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sandboxing {
    /// Nothing is said: confined at level hardened, free at the others.
    #[default]
    ByLevel,
    /// Free at every level: someone has said so.
    Off,
    On(SandboxSettings),
}

impl Sandboxing {
    /// What holds at a level. Hardened wants every layer.
    pub fn at(&self, level: Level) -> Option<SandboxSettings> {
        let is_hardened = level == Level::Hardened;
        let settings = match self {
            Self::Off => return None,
            Self::ByLevel if !is_hardened => return None,
            Self::ByLevel => SandboxSettings::default(),
            Self::On(settings) => settings.clone(),
        };
        Some(SandboxSettings { required: settings.required || is_hardened, ..settings })
    }
}

/// What a confined server may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// What it may read, beyond the system's folders and its own.
    pub read: Vec<PathBuf>,
    /// What it may read and write.
    pub write: Vec<PathBuf>,
    pub network: SandboxNetwork,
    /// The variables it inherits, instead of the usual ones.
    pub env: Option<Vec<String>>,
    /// The runtime whose folders it gets; without it, the command says which.
    pub preset: Option<SandboxPreset>,
    /// Whether it does not start where a layer is missing.
    pub required: bool,
}

/// Whom it may connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SandboxNetwork {
    #[default]
    On,
    Off,
    /// These hosts only, through a proxy of ours.
    Hosts(Vec<SandboxHost>),
}

/// A host that a server may connect to, as `api.example.com`, `*.example.com:8443` or `10.0.0.5:*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxHost {
    written: String,
    host: String,
    port: Ports,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    /// 80 and 443.
    Web,
    Any,
    One(u16),
}

impl SandboxHost {
    /// Reads one; `None` if it is none.
    pub fn read(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            Some((host, "")) => (host, Ports::Web),
            Some((host, port)) => (host, ports(port.strip_prefix(':')?)?),
            // An IPv6 address without brackets has no port.
            None if text.parse::<IpAddr>().is_ok() => (text, Ports::Web),
            None => match text.split_once(':') {
                Some((host, port)) => (host, ports(port)?),
                None => (text, Ports::Web),
            },
        };
        let is_address = host.parse::<IpAddr>().is_ok();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        let is_good = is_address || (!host.is_empty() && host.len() <= 253 && host.chars().all(is_name));
        is_good.then(|| Self { written: text.to_owned(), host: host.to_ascii_lowercase(), port })
    }

    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether this host and port are meant.
    pub fn fits(&self, host: &str, port: u16) -> bool {
        let port_fits = match self.port {
            Ports::Web => matches!(port, 80 | 443),
            Ports::Any => true,
            Ports::One(one) => one == port,
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        port_fits && Glob::read(&self.host).is_some_and(|glob| glob.fits(&host))
    }

    /// Whether it names this machine by the name that every machine has for itself.
    pub fn is_localhost(&self) -> bool {
        self.host == "localhost"
    }

    /// The address, if it names one instead of a host.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

fn ports(text: &str) -> Option<Ports> {
    match text {
        "*" => Some(Ports::Any),
        text => text.parse().ok().filter(|port| *port > 0).map(Ports::One),
    }
}

/// A language runtime, with where it is installed and where it caches packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxPreset {
    Node,
    Python,
    /// Neither.
    None,
}

impl SandboxPreset {
    pub const NAMES: [&str; 3] = ["node", "python", "none"];

    /// By its name in the configuration.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Node, Self::Python, Self::None].into_iter().find(|preset| preset.name() == name)
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::None => "none",
        }
    }

    /// Of a command, by the name of its program.
    pub fn of_program(program: &str) -> Self {
        match program {
            "node" | "npx" | "npm" | "pnpm" | "pnpx" | "yarn" | "bun" | "bunx" | "deno" | "tsx" => Self::Node,
            "uv" | "uvx" | "pipx" => Self::Python,
            program if program.starts_with("python") || program.starts_with("pypy") => Self::Python,
            _ => Self::None,
        }
    }

    /// Folders below the home folder that the runtime is read from.
    pub fn reads(self) -> &'static [&'static str] {
        match self {
            Self::Node => &[
                ".nvm",
                ".volta",
                ".fnm",
                ".local/share/fnm",
                ".asdf",
                ".local/share/mise",
                ".bun",
                ".deno",
                ".local/share/pnpm",
            ],
            Self::Python => &[
                ".pyenv",
                ".asdf",
                ".local/share/mise",
                ".local/bin",
                ".local/lib",
                ".local/share/pipx",
                ".cargo/bin",
            ],
            Self::None => &[],
        }
    }

    /// Folders below the home folder that the runtime keeps its packages in.
    pub fn writes(self) -> &'static [&'static str] {
        match self {
            Self::Node => &[".npm", ".cache/node", ".cache/pnpm", ".cache/deno"],
            Self::Python => &[".cache/uv", ".local/share/uv", ".cache/pip"],
            Self::None => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_a_pattern_or_an_address_with_a_port() {
        let check = |text: &str, host: &str, port: u16, expected: bool| {
            let read = SandboxHost::read(text).expect(text);
            assert_eq!(read.fits(host, port), expected, "{text} and {host}:{port}");
        };
        check("api.example.com", "API.example.com.", 443, true);
        check("api.example.com", "api.example.com", 80, true);
        check("api.example.com", "api.example.com", 22, false);
        check("api.example.com", "api.example.com.evil.net", 443, false);
        check("*.example.com:8443", "a.b.example.com", 8443, true);
        check("*.example.com:8443", "example.com", 8443, false);
        check("10.0.0.5:*", "10.0.0.5", 22, true);
        check("[::1]:80", "::1", 80, true);
        check("::1", "::1", 443, true);
        for wrong in ["", "https://example.com", "example.com:0", "example.com:x", "a b", "[::1", "a/b"] {
            assert_eq!(SandboxHost::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hardened_confines_whoever_says_nothing_and_wants_every_layer() {
        let sandbox = |required| Some(SandboxSettings { required, ..SandboxSettings::default() });
        let on = Sandboxing::On(SandboxSettings::default());
        for (sandboxing, production, hardened) in [
            (Sandboxing::ByLevel, None, sandbox(true)),
            (Sandboxing::Off, None, None),
            (on, sandbox(false), sandbox(true)),
        ] {
            assert_eq!(sandboxing.at(Level::Production), production, "{sandboxing:?}");
            assert_eq!(sandboxing.at(Level::Hardened), hardened, "{sandboxing:?}");
        }
    }

    #[test]
    fn a_command_says_which_runtime_it_needs() {
        for (program, preset) in [
            ("npx", SandboxPreset::Node),
            ("python3.12", SandboxPreset::Python),
            ("uvx", SandboxPreset::Python),
            ("github-mcp-server", SandboxPreset::None),
        ] {
            assert_eq!(SandboxPreset::of_program(program), preset, "{program}");
        }
        assert_eq!(
            SandboxPreset::NAMES.map(|name| SandboxPreset::from_name(name).map(SandboxPreset::name)),
            SandboxPreset::NAMES.map(Some)
        );
    }
}
