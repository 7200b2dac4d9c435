//! Seccomp: a list of system calls, as data, becomes a filter.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::jail::JailError;

/// Under which condition a call is on the list.
pub enum When {
    Always,
    /// One argument must have this value.
    Is(u8, u64),
    /// The same for an `int`: the kernel does not look at the upper half of the register.
    IsInt(u8, libc::c_int),
    /// One argument must have none of these values.
    NoneOf(u8, &'static [u64]),
    /// One argument must have none of these bits.
    Without(u8, u64),
    /// Of these bits (the second number), one argument must have exactly those (the third).
    Exactly(u8, u64, u64),
    /// Two of them at once.
    Both(&'static When, &'static When),
}

use When::{Always, Both, Exactly, Is, IsInt, NoneOf, Without};

/// A call, when it is meant, and why it is on the list.
pub type Listed = (i64, When, &'static str);

/// Memory that RLIMIT_DATA counts and nothing executes: neither shared, which is counted for nobody, nor
/// growing downwards, which counts as stack.
pub(super) const OWN_MEMORY: When = Both(
    &Without(2, libc::PROT_EXEC as u64),
    &Exactly(3, (libc::MAP_TYPE | libc::MAP_GROWSDOWN) as u64, libc::MAP_PRIVATE as u64),
);

/// Two filters, of which the stricter answer counts.
pub struct Filter {
    refused: BpfProgram,
    allowed: BpfProgram,
}

impl Filter {
    /// Compiles them, once, in the zygote. What is `refused` is answered as if the kernel had no such call;
    /// whatever is in neither list ends the process.
    pub fn compile(allowed: &[&[Listed]], refused: &[&[Listed]]) -> Result<Self, JailError> {
        Self::compile_with(allowed, refused, SeccompAction::KillProcess)
    }

    /// The same, but whatever is in neither list is not permitted, and the process goes on.
    pub fn compile_refusing(allowed: &[&[Listed]], refused: &[&[Listed]]) -> Result<Self, JailError> {
        Self::compile_with(allowed, refused, SeccompAction::Errno(libc::EPERM as u32))
    }

    fn compile_with(
        allowed: &[&[Listed]],
        refused: &[&[Listed]],
        others: SeccompAction,
    ) -> Result<Self, JailError> {
        let refused = || refused.iter().copied().flatten();
        // What one refuses, the other must let pass.
        let passed = allowed.iter().copied().flatten().chain(refused());
        let no_such_call = SeccompAction::Errno(libc::ENOSYS as u32);
        Ok(Self {
            refused: program(refused(), SeccompAction::Allow, no_such_call)?,
            allowed: program(passed, others, SeccompAction::Allow)?,
        })
    }

    /// Binds this process: this thread is all of it, and threads made later inherit the filter.
    pub fn apply(&self) -> Result<(), JailError> {
        // The list goes last: it has no room for another filter.
        [&self.refused, &self.allowed].into_iter().try_for_each(|program| {
            seccompiler::apply_filter(program).map_err(|error| JailError::new("seccomp", error))
        })
    }
}

/// Calls that may not be made any more.
pub struct Denial(BpfProgram);

impl Denial {
    /// They are answered with this error.
    pub fn compile(lists: &[&[Listed]], errno: libc::c_int) -> Result<Self, JailError> {
        let listed = lists.iter().copied().flatten();
        program(listed, SeccompAction::Allow, SeccompAction::Errno(errno as u32)).map(Self)
    }

    /// Binds this process.
    pub fn apply(&self) -> Result<(), JailError> {
        seccompiler::apply_filter(&self.0).map_err(|error| JailError::new("seccomp", error))
    }
}

/// Binds this process to a list of calls that it may not make: they are answered with this error.
pub(super) fn deny(listed: &[Listed], errno: libc::c_int) -> Result<(), JailError> {
    Denial::compile(&[listed], errno)?.apply()
}

/// Binds this process to a list of calls that are not made: whoever makes one gets SIGSYS instead.
pub(super) fn trap(lists: &[&[Listed]]) -> Result<(), JailError> {
    let listed = lists.iter().copied().flatten();
    let program = program(listed, SeccompAction::Allow, SeccompAction::Trap)?;
    seccompiler::apply_filter(&program).map_err(|error| JailError::new("seccomp", error))
}

/// What is listed meets with `listed`, any other call with `others`.
fn program<'a>(
    calls: impl Iterator<Item = &'a Listed>,
    others: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, JailError> {
    let failed = |error: seccompiler::BackendError| JailError::new("seccomp", error);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, when, _reason) in calls {
        let rules = rules.entry(*call).or_default();
        let mut conditions = Vec::new();
        add_conditions(when, &mut conditions).map_err(failed)?;
        if !conditions.is_empty() {
            rules.push(SeccompRule::new(conditions).map_err(failed)?);
        }
    }
    let filter = SeccompFilter::new(rules, others, listed, architecture()?).map_err(failed)?;
    filter.try_into().map_err(failed)
}

fn add_conditions(
    when: &When,
    conditions: &mut Vec<SeccompCondition>,
) -> Result<(), seccompiler::BackendError> {
    let (argument, operator, value) = match when {
        Always => return Ok(()),
        Both(one, other) => {
            add_conditions(one, conditions)?;
            return add_conditions(other, conditions);
        }
        NoneOf(argument, values) => {
            // An `int`: the kernel does not look at the upper half of the register either.
            let differs = |value: &u64| {
                SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *value)
            };
            for value in *values {
                conditions.push(differs(value)?);
            }
            return Ok(());
        }
        IsInt(argument, value) => {
            let value = u64::from(value.cast_unsigned());
            let is = SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
            conditions.push(is);
            return Ok(());
        }
        Is(argument, value) => (*argument, SeccompCmpOp::Eq, *value),
        Without(argument, bits) => (*argument, SeccompCmpOp::MaskedEq(*bits), 0),
        Exactly(argument, bits, value) => (*argument, SeccompCmpOp::MaskedEq(*bits), *value),
    };
    conditions.push(SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?);
    Ok(())
}

fn architecture() -> Result<TargetArch, JailError> {
    std::env::consts::ARCH.try_into().map_err(|error| JailError::new("seccomp", format!("{error:?}")))
}
