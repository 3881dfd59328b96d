//! What stands between the process and the system. It is put up by the process itself, before it reads anything that a
//! model wrote; none of it can be taken down again.
//!
//! What a reader would get wrong: each of these may be missing (an old kernel, a container that forbids filters, another
//! system), and then the process goes on and says so. What always holds is that it is a process of its own with an empty
//! environment, that it has bounds of its own, and that it is killed from outside.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::ScriptLimits;
use crate::protocol::Walls;

/// How much a script steps back for everything else: as far as there is. It still gets a sixtieth of a core that is wanted all
/// the time, and all of one that nobody wants.
const NICE: i32 = 19;
/// Address space beside the heap of the script: the lines that are read and written, and what is made of them.
#[cfg(target_os = "linux")]
const BESIDE: u64 = 96 * 1024 * 1024;

pub(super) fn build(limits: &ScriptLimits) -> Walls {
    let address_space = bounds(limits);
    let (landlock, seccomp) = system::build();
    Walls { seccomp, landlock, address_space }
}

/// Whatever else this machine does is somebody's call. Before all else: also what it takes to begin is taken from them.
pub(super) fn step_back() {
    let _ = rustix::process::nice(NICE);
}

/// Whether the address space is bounded; the other bounds are everywhere.
fn bounds(limits: &ScriptLimits) -> bool {
    // Whole seconds: the last bound, behind the engine's own and the one from outside.
    let seconds = limits.cpu.as_secs() + 2;
    let most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    for (resource, limit) in [
        (Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) }),
        (Resource::Core, most(0)),
        (Resource::Fsize, most(0)),
    ] {
        // One that cannot be set is already lower.
        let _ = setrlimit(resource, limit);
    }
    #[cfg(target_os = "linux")]
    {
        let _ = setrlimit(Resource::Nproc, most(0));
        let Some(used) = system::address_space() else { return false };
        setrlimit(Resource::As, most(used + limits.memory as u64 + BESIDE)).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(target_os = "linux")]
mod system {
    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus};
    use rustix::process::{Resource, Rlimit, setrlimit};

    /// Bytes of address space in use.
    pub(super) fn address_space() -> Option<u64> {
        let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = sizes.split_ascii_whitespace().next()?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Whether files and networks are out of reach, and whether system calls are filtered.
    pub(super) fn build() -> (bool, bool) {
        let landlock = landlock().is_some();
        // Whatever is opened from here on is one file too many.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(0), maximum: Some(0) });
        (landlock, filters::build().is_some())
    }

    /// Everything that the kernel can forbid is forbidden, and nothing is allowed.
    fn landlock() -> Option<()> {
        let newest = ABI::V5;
        let rules = Ruleset::default().handle_access(AccessFs::from_all(newest)).ok()?;
        let rules = rules.handle_access(AccessNet::from_all(newest)).ok()?;
        let status = rules.create().ok()?.restrict_self().ok()?;
        (status.ruleset != RulesetStatus::NotEnforced).then_some(())
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    mod filters {
        use std::collections::BTreeMap;

        use seccompiler::{
            BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
            TargetArch, apply_filter,
        };

        /// What computing, waiting and ending take. Everything else answers that it may not be done.
        const ALLOWED: [i64; 19] = [
            libc::SYS_brk,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_madvise,
            libc::SYS_futex,
            libc::SYS_clock_gettime,
            libc::SYS_gettimeofday,
            libc::SYS_clock_nanosleep,
            libc::SYS_getrandom,
            libc::SYS_rt_sigreturn,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigaction,
            libc::SYS_sigaltstack,
            libc::SYS_sched_yield,
            libc::SYS_getpid,
            libc::SYS_gettid,
            libc::SYS_restart_syscall,
            libc::SYS_exit,
            libc::SYS_exit_group,
        ];
        /// What no mistake leads to: whoever does this has taken the engine over, and is ended at once.
        const FATAL: [i64; 11] = [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_sendto,
            libc::SYS_ptrace,
            libc::SYS_kill,
            libc::SYS_bpf,
        ];

        pub(super) fn build() -> Option<()> {
            let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
            let mut allowed: BTreeMap<i64, Vec<SeccompRule>> =
                ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
            // Reading is from whoever started this and writing is to them.
            allowed.insert(libc::SYS_read, vec![argument(0, SeccompCmpOp::Eq, 0)?]);
            allowed.insert(libc::SYS_write, vec![argument(0, SeccompCmpOp::Eq, 1)?]);
            allowed.insert(libc::SYS_writev, vec![argument(0, SeccompCmpOp::Eq, 1)?]);
            // Memory that is not of a file and not to be executed.
            let executable = u64::try_from(libc::PROT_EXEC).ok()?;
            let anonymous = u64::try_from(libc::MAP_ANONYMOUS).ok()?;
            let not_executed = condition(2, SeccompCmpOp::MaskedEq(executable), 0)?;
            let of_nothing = condition(3, SeccompCmpOp::MaskedEq(anonymous), anonymous)?;
            allowed.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executed.clone()]).ok()?]);
            allowed.insert(libc::SYS_mmap, vec![SeccompRule::new(vec![not_executed, of_nothing]).ok()?]);
            let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).ok()?);
            // Both are made before one is in force. The fatal one goes first: putting up the second takes calls that the second
            // itself does not allow.
            let fatal = FATAL.into_iter().map(|call| (call, Vec::new())).collect();
            let fatal = program(fatal, SeccompAction::Allow, SeccompAction::KillProcess, arch)?;
            let allowed = program(allowed, refused, SeccompAction::Allow, arch)?;
            apply_filter(&fatal).ok()?;
            apply_filter(&allowed).ok()
        }

        fn program(
            rules: BTreeMap<i64, Vec<SeccompRule>>,
            otherwise: SeccompAction,
            matched: SeccompAction,
            arch: TargetArch,
        ) -> Option<BpfProgram> {
            SeccompFilter::new(rules, otherwise, matched, arch).ok()?.try_into().ok()
        }

        fn condition(argument: u8, how: SeccompCmpOp, value: u64) -> Option<SeccompCondition> {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value).ok()
        }

        fn argument(argument: u8, how: SeccompCmpOp, value: u64) -> Option<SeccompRule> {
            SeccompRule::new(vec![condition(argument, how, value)?]).ok()
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
    mod filters {
        pub(super) fn build() -> Option<()> {
            None
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn build() -> (bool, bool) {
        (false, false)
    }
}
