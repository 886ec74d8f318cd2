//! Nobody else can look into a store, whatever the umask says.

use crate::child::{self, Child};
use crate::support::{TestWorld, beside, engine, fast_dir, grant, settings, store_file};
use clearway_store_sqlite::{Schema, Settings, SqliteEngine};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const NEXT: Schema = Schema { steps: &[Schema::CURRENT.steps[0], "CREATE TABLE later (x TEXT) STRICT;"] };

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o7777
}

/// Makes a store and migrates it.
fn make(state: &Path) {
    grant(&mut engine(state), &mut TestWorld::new(1), "a", "f");
    let mut next = SqliteEngine::new(Settings { schema: NEXT, ..settings(state) });
    grant(&mut next, &mut TestWorld::new(2), "a", "g");
}

#[test]
fn every_file_is_for_its_owner_alone() {
    let test = "privacy::every_file_is_for_its_owner_alone";
    if let Some((_, state)) = child::role() {
        make(&state);
        return child::say("made");
    }
    for umask in ["000", "022", "077"] {
        let directory = fast_dir();
        let state = directory.path().join("deep/state");
        let mut maker = Child::start_with_umask(test, umask, &state);
        assert_eq!(maker.hear(), "made");
        maker.finish();
        let file = store_file(&state);
        for suffix in ["", "-wal", "-shm", "-gate", "-next", "-schema-1-backup"] {
            assert_eq!(mode(&beside(&file, suffix)), 0o600, "umask {umask}: {suffix}");
        }
        for made in file.ancestors().skip(1).take_while(|path| *path != directory.path()) {
            assert_eq!(mode(made), 0o700, "umask {umask}: {}", made.display());
        }
    }
}
