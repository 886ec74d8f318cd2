//! What the second start says to the first when it could not become the command: the number of the error, through a
//! pipe that nobody else has and that is closed in the command. Without one the exit code alone tells.

#[cfg(target_os = "linux")]
pub(super) use linux::{Ear, Mouth, pipe};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Ear, Mouth, pipe};

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::{FdFlags, fcntl_setfd};
    use std::ffi::OsStr;
    use std::fs::{File, OpenOptions};
    use std::io::{self, PipeReader, Read, Write};
    use std::os::fd::{AsRawFd, OwnedFd, RawFd};

    /// The end of the first start.
    #[derive(Debug)]
    pub(in super::super) struct Ear(Option<PipeReader>);

    /// The end of the second start.
    #[derive(Debug)]
    pub(in super::super) struct Mouth(Option<File>);

    /// Both ends. While the mouth is open here, whatever is started inherits it.
    pub(in super::super) fn pipe() -> (Ear, Mouth) {
        let made = io::pipe().and_then(|(ear, mouth)| {
            fcntl_setfd(&mouth, FdFlags::empty())?;
            Ok((ear, File::from(OwnedFd::from(mouth))))
        });
        let (ear, mouth) = made.ok().unzip();
        (Ear(ear), Mouth(mouth))
    }

    impl Ear {
        /// Why the command could not be begun, if it could not. Asked once it has ended.
        pub(in super::super) fn heard(&mut self) -> Option<io::Error> {
            let mut number = [0_u8; 4];
            self.0.as_mut()?.read_exact(&mut number).ok()?;
            Some(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
        }
    }

    impl Mouth {
        /// What the second start finds it by.
        pub(in super::super) fn name(&self) -> String {
            self.0.as_ref().map_or_else(|| "-".to_owned(), |mouth| mouth.as_raw_fd().to_string())
        }

        /// Finds it. What was inherited would stay open in the command, and closes now; opened anew it closes when
        /// the command begins.
        pub(in super::super) fn inherited(name: &OsStr) -> Self {
            let Some(number) = name.to_str().and_then(|name| name.parse::<RawFd>().ok()) else {
                return Self(None);
            };
            let opened = OpenOptions::new().write(true).open(format!("/proc/self/fd/{number}"));
            let _ = nix::unistd::close(number);
            Self(opened.ok())
        }

        pub(in super::super) fn tell(self, error: &io::Error) {
            let number = error.raw_os_error().unwrap_or_default().to_ne_bytes();
            let _ = self.0.map(|mut mouth| mouth.write_all(&number));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::ffi::OsStr;
    use std::io;

    /// Hears nothing.
    #[derive(Debug)]
    pub(in super::super) struct Ear;

    /// Says nothing.
    #[derive(Debug)]
    pub(in super::super) struct Mouth;

    pub(in super::super) fn pipe() -> (Ear, Mouth) {
        (Ear, Mouth)
    }

    impl Ear {
        pub(in super::super) fn heard(&mut self) -> Option<io::Error> {
            None
        }
    }

    impl Mouth {
        pub(in super::super) fn name(&self) -> String {
            "-".to_owned()
        }

        pub(in super::super) fn inherited(_: &OsStr) -> Self {
            Self
        }

        pub(in super::super) fn tell(self, _: &io::Error) {}
    }
}
