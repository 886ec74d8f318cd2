//! One line of the process table, read without trusting it: a command's name may contain blanks,
//! brackets, newlines and bytes that are no text.

/// What the process table says about one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) pid: u32,
    pub(crate) command: String,
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    /// Whether it has a controlling terminal.
    pub(crate) at_terminal: bool,
    pub(crate) threads: u32,
    pub(crate) start_ticks: u64,
}

impl Stat {
    /// A first thread that ended while others run shows as `Z` too, but the process lives.
    pub(crate) fn has_ended(&self) -> bool {
        match self.state {
            'Z' => self.threads <= 1,
            'X' | 'x' => true,
            _ => false,
        }
    }
}

/// Reads `/proc/PID/stat`. The name ends at the *last* bracket, since it may hold brackets itself.
#[cfg_attr(target_os = "macos", expect(dead_code, reason = "macOS asks ps instead"))]
pub(crate) fn parse_stat(line: &[u8]) -> Option<Stat> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let command = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // proc(5) numbers the fields from 1; the state is number 3 and the first after the name.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Stat {
        pid,
        command,
        state: field(3)?.chars().next()?,
        parent: non_negative(field(4)?)?,
        session: non_negative(field(6)?)?,
        at_terminal: field(7)?.parse::<i64>().ok()? != 0,
        threads: non_negative(field(20)?)?,
        start_ticks: field(22)?.parse().ok()?,
    })
}

/// The kernel prints -1 for sessions and parents it cannot name here; that is "none" to us.
fn non_negative(text: &str) -> Option<u32> {
    let number: i64 = text.parse().ok()?;
    u32::try_from(number.max(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line as Linux 6 prints it, with the fields we read made up.
    fn line(command: &[u8], state: char, parent: i64, threads: u32) -> Vec<u8> {
        let mut line = b"4242 (".to_vec();
        line.extend_from_slice(command);
        let rest = format!(
            ") {state} {parent} 4200 4100 34816 4242 4194304 98 0 0 0 1 2 0 0 20 0 {threads} 0 776655 3 4 5\n"
        );
        line.extend_from_slice(rest.as_bytes());
        line
    }

    #[test]
    fn the_fields_are_found_by_their_place() {
        let expect = Stat {
            pid: 4242,
            command: "cat".to_owned(),
            state: 'S',
            parent: 41,
            session: 4100,
            at_terminal: true,
            threads: 3,
            start_ticks: 776_655,
        };
        assert_eq!(parse_stat(&line(b"cat", 'S', 41, 3)), Some(expect));
    }

    #[test]
    fn a_name_cannot_forge_the_fields_behind_it() {
        for name in ["a) R 1 2 3", "(", ")", "))((", "", " ", "a\nb"] {
            let stat = parse_stat(&line(name.as_bytes(), 'T', 7, 1)).unwrap();
            assert_eq!((stat.command.as_str(), stat.state, stat.parent), (name, 'T', 7));
        }
    }

    #[test]
    fn a_parent_or_session_out_of_sight_is_none() {
        assert_eq!(parse_stat(&line(b"x", 'S', -1, 1)).unwrap().parent, 0);
    }

    #[test]
    fn no_device_means_no_terminal() {
        let text = String::from_utf8(line(b"x", 'S', 1, 1)).unwrap().replace(" 34816 ", " 0 ");
        assert!(!parse_stat(text.as_bytes()).unwrap().at_terminal);
    }

    #[test]
    fn a_process_has_ended_only_when_all_its_threads_have() {
        let check = |state, threads, expect| {
            let stat = parse_stat(&line(b"x", state, 1, threads)).unwrap();
            assert_eq!(stat.has_ended(), expect, "{state} {threads}");
        };
        check('Z', 1, true);
        check('Z', 0, true);
        check('Z', 2, false);
        check('X', 1, true);
        check('T', 1, false);
        check('R', 1, false);
    }

    #[test]
    fn half_a_line_is_no_process() {
        for text in ["", "1", "1 (a", "1 (a)", "1 (a) S 1 2 3", "x (a) S 1 2 3", ") 1 ("] {
            assert_eq!(parse_stat(text.as_bytes()), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(stat) = parse_stat(&bytes) {
                prop_assert!(stat.start_ticks.to_string().len() <= bytes.len());
            }
        }

        #[test]
        fn any_name_is_read_back(name in "\\PC{0,15}", threads in 0_u32..9) {
            let stat = parse_stat(&line(name.as_bytes(), 'S', 1, threads)).unwrap();
            prop_assert_eq!(stat.command, name);
            prop_assert_eq!(stat.threads, threads);
        }
    }
}
