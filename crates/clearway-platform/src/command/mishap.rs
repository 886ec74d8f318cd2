//! What the second start says to the first when it could not become the command: the number of the error. It leaves no
//! file and nothing open in the command. Where there are no nameless sockets the exit code alone tells.

#[cfg(target_os = "linux")]
pub(super) use linux::{Mishaps, tell};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Mishaps, tell};

#[cfg(target_os = "linux")]
mod linux {
    use crate::random;
    use std::ffi::OsStr;
    use std::io;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    /// The ear of the first start.
    #[derive(Debug)]
    pub(in super::super) struct Mishaps {
        socket: UnixDatagram,
        name: String,
    }

    impl Mishaps {
        pub(in super::super) fn listen() -> io::Result<Self> {
            let mut salt = [0_u8; 16];
            random::fill(&mut salt)?;
            let name = format!("clearway-{:032x}", u128::from_ne_bytes(salt));
            let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
            socket.set_nonblocking(true)?;
            Ok(Self { socket, name })
        }

        pub(in super::super) fn name(&self) -> &str {
            &self.name
        }

        /// Why the command could not be begun, if it could not. Asked once it has ended.
        pub(in super::super) fn heard(&self) -> Option<io::Error> {
            let mut number = [0_u8; 4];
            let length = self.socket.recv(&mut number).ok()?;
            (length == number.len()).then(|| io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
        }
    }

    pub(in super::super) fn tell(name: &OsStr, error: &io::Error) {
        let number = error.raw_os_error().unwrap_or_default().to_ne_bytes();
        let _ = SocketAddr::from_abstract_name(name.as_encoded_bytes())
            .and_then(|address| UnixDatagram::unbound()?.send_to_addr(&number, &address));
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::ffi::OsStr;
    use std::io;

    /// Hears nothing.
    #[derive(Debug)]
    pub(in super::super) struct Mishaps;

    impl Mishaps {
        pub(in super::super) fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in super::super) fn name(&self) -> &str {
            "-"
        }

        pub(in super::super) fn heard(&self) -> Option<io::Error> {
            None
        }
    }

    pub(in super::super) fn tell(_: &OsStr, _: &io::Error) {}
}
