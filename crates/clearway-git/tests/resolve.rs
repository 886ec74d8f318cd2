//! Every spelling of a place ends at the same text, and none leads out of the worktree unseen.

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clearway_git::{Located, PathKind, ResolveError, resolve};
use proptest::prelude::*;
use support::{Sandbox, link};

use PathKind::{ExistingDirectory, ExistingFile, Missing};

struct Tree {
    sandbox: Sandbox,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("root");
        sandbox.write("root/src/main.rs", "");
        sandbox.write("root/src/deep/x", "");
        sandbox.write("root/app/[id]/page.tsx", "");
        sandbox.write("outside/file", "");
        sandbox.repository("root/vendor/inner");
        let links = [
            ("src", "to-dir"),
            ("src/main.rs", "to-file"),
            ("nowhere/else", "dangling"),
            ("../outside", "out"),
            ("loop", "loop"),
            ("to-dir", "to-to-dir"),
            ("src/deep/..", "up-and-down"),
            ("vendor/inner", "to-inner"),
        ];
        for (says, name) in links {
            link(says, root.join(name));
        }
        link(root.join("src"), root.join("absolute"));
        link(&root, sandbox.at("outside/back"));
        link(root.join("src/main.rs"), sandbox.at("outside/back-to-file"));
        Self { sandbox, root }
    }

    fn resolve(&self, cwd: &str, argument: &str) -> Result<Located, ResolveError> {
        resolve(&self.root, &self.root.join(cwd), Path::new(argument))
    }

    fn check(&self, cwd: &str, argument: &str, path: &str, kind: PathKind) {
        let located = self.resolve(cwd, argument).unwrap_or_else(|error| panic!("{argument}: {error}"));
        assert_eq!((located.path.as_str(), located.kind), (path, kind), "{argument} in {cwd:?}");
    }

    fn refused(&self, argument: &str) -> ResolveError {
        self.resolve("", argument).unwrap_err()
    }
}

#[test]
fn plain_paths_are_taken_from_the_working_directory() {
    let tree = Tree::new();
    tree.check("", "file", "file", ExistingFile);
    tree.check("", "src", "src", ExistingDirectory);
    tree.check("src", "main.rs", "src/main.rs", ExistingFile);
    tree.check("src", "../file", "file", ExistingFile);
    tree.check("src", "./deep/./x", "src/deep/x", ExistingFile);
    tree.check("src/deep", "..", "src", ExistingDirectory);
    tree.check("src", ".", "src", ExistingDirectory);
    tree.check("", ".", "", ExistingDirectory);
    tree.check("", "src//main.rs", "src/main.rs", ExistingFile);
    tree.check("", "app/[id]/page.tsx", "app/[id]/page.tsx", ExistingFile);
}

#[test]
fn absolute_paths_are_taken_as_they_are() {
    let tree = Tree::new();
    let absolute = |relative: &str| tree.root.join(relative).to_str().unwrap().to_owned();
    tree.check("src", &absolute("file"), "file", ExistingFile);
    tree.check("src", &absolute(""), "", ExistingDirectory);
    tree.check("src", &absolute("new/one"), "new/one", Missing);
    tree.check("src", &absolute("src/../../root/file"), "file", ExistingFile);
}

#[test]
fn a_slash_at_the_end_asks_for_a_directory() {
    let tree = Tree::new();
    tree.check("", "src/", "src", ExistingDirectory);
    tree.check("", "src/.", "src", ExistingDirectory);
    tree.check("", "new/", "new", Missing);
    tree.check("", "to-dir/", "src", ExistingDirectory);
    assert!(matches!(tree.refused("file/"), ResolveError::NotADirectory { .. }));
    assert!(matches!(tree.refused("file/."), ResolveError::NotADirectory { .. }));
    assert!(matches!(tree.refused("to-file/"), ResolveError::NotADirectory { .. }));
}

#[test]
fn what_does_not_exist_yet_keeps_its_name_below_what_does() {
    let tree = Tree::new();
    tree.check("", "new", "new", Missing);
    tree.check("src", "a/b/c", "src/a/b/c", Missing);
    tree.check("", "a/b/../c", "a/c", Missing);
    tree.check("", "a/../file", "file", ExistingFile);
    tree.check("", "a/b/../../src", "src", ExistingDirectory);
    tree.check("", "a/..", "", ExistingDirectory);
    tree.check("", "to-dir/new/one", "src/new/one", Missing);
    tree.check("", "src/*.rs", "src/*.rs", Missing);
    tree.check("a/b", "../c", "a/c", Missing);
    let long = "n".repeat(300);
    tree.check("", &format!("src/{long}"), &format!("src/{long}"), Missing);
}

#[test]
fn links_to_directories_are_resolved_on_the_way() {
    let tree = Tree::new();
    tree.check("", "to-dir/main.rs", "src/main.rs", ExistingFile);
    tree.check("", "to-to-dir/main.rs", "src/main.rs", ExistingFile);
    tree.check("", "absolute/main.rs", "src/main.rs", ExistingFile);
    tree.check("", "up-and-down/main.rs", "src/main.rs", ExistingFile);
    tree.check("to-dir", "main.rs", "src/main.rs", ExistingFile);
    tree.check("to-dir", "..", "", ExistingDirectory);
    tree.check("", "to-dir/..", "", ExistingDirectory);
    tree.check("to-dir/deep", "../main.rs", "src/main.rs", ExistingFile);
    tree.check("", "out/back/file", "file", ExistingFile);
}

#[test]
fn a_link_in_last_position_is_itself_unless_it_leads_to_a_directory() {
    let tree = Tree::new();
    tree.check("", "to-file", "to-file", ExistingFile);
    tree.check("", "dangling", "dangling", ExistingFile);
    tree.check("", "loop", "loop", ExistingFile);
    for link in ["to-dir", "to-to-dir", "absolute", "up-and-down"] {
        tree.check("", link, "src", ExistingDirectory);
    }
    tree.check("src", "../to-dir/../to-dir", "src", ExistingDirectory);
    assert!(matches!(tree.refused("out"), ResolveError::Outside { .. }));
}

#[test]
fn a_link_outside_that_leads_in_is_followed() {
    let tree = Tree::new();
    tree.check("../outside", "back", "", ExistingDirectory);
    tree.check("../outside", "back-to-file", "src/main.rs", ExistingFile);
    tree.check("../outside/back", "file", "file", ExistingFile);
}

#[test]
fn a_path_through_a_dangling_link_is_where_it_would_be() {
    let tree = Tree::new();
    tree.check("", "dangling/x", "nowhere/else/x", Missing);
    tree.check("", "dangling/", "nowhere/else", Missing);
}

#[test]
fn spellings_through_the_process_table_end_at_the_same_place() {
    let tree = Tree::new();
    let below_root = tree.root.strip_prefix("/").unwrap().to_str().unwrap().to_owned();
    tree.check("src", &format!("/proc/self/root/{below_root}/src/main.rs"), "src/main.rs", ExistingFile);
    tree.check("src", &format!("/proc/self/root/{below_root}/new/x"), "new/x", Missing);
    let twice = format!("/proc/self/root/proc/self/root/{below_root}/to-dir/main.rs");
    tree.check("src", &twice, "src/main.rs", ExistingFile);
    let spelled = Path::new("/proc/self/root").join(&below_root);
    let located = resolve(&spelled, &spelled.join("src"), Path::new("main.rs")).unwrap();
    assert_eq!(located.path, "src/main.rs");
}

#[test]
fn what_leads_out_is_refused_with_the_place_it_leads_to() {
    let tree = Tree::new();
    for argument in
        ["..", "../outside/file", "/etc/passwd", "/", "out/file", "out/new", "src/../../new", "out/"]
    {
        match tree.refused(argument) {
            ResolveError::Outside { path, root } => {
                assert!(!path.starts_with(&root), "{argument}");
                assert_eq!(root, tree.root);
            }
            other => panic!("{argument}: {other:?}"),
        }
    }
    let twin = format!("{}-twin/file", tree.root.display());
    assert!(matches!(tree.refused(&twin), ResolveError::Outside { .. }));
}

#[test]
fn what_is_no_path_is_refused_by_its_kind() {
    let tree = Tree::new();
    assert!(matches!(tree.refused(""), ResolveError::Empty));
    assert!(matches!(tree.refused("a\0b"), ResolveError::ZeroByte));
    assert!(matches!(tree.refused("file/below"), ResolveError::NotADirectory { .. }));
    assert!(matches!(tree.refused("file/.."), ResolveError::NotADirectory { .. }));
    assert!(matches!(tree.refused("loop/x"), ResolveError::TooManyLinks { .. }));
    let not_text = Path::new(OsStr::from_bytes(b"\xff"));
    let error = resolve(&tree.root, &tree.root, not_text).unwrap_err();
    assert!(matches!(error, ResolveError::NotUtf8 { .. }), "{error:?}");
}

#[test]
fn a_path_in_a_repository_inside_is_said_to_be_there() {
    let tree = Tree::new();
    let inner = tree.root.join("vendor/inner");
    let check = |argument: &str, nested: Option<&Path>, is_nested_root: bool| {
        let located = tree.resolve("", argument).unwrap();
        assert_eq!(
            (located.nested.as_deref(), located.is_nested_root),
            (nested, is_nested_root),
            "{argument}"
        );
    };
    check("vendor/inner/file", Some(&inner), false);
    check("vendor/inner/new/x", Some(&inner), false);
    check("to-inner/file", Some(&inner), false);
    check("vendor/inner", None, true);
    check("vendor/inner/", None, true);
    check("vendor", None, false);
    check("to-inner", None, true);
    check(".", None, false);
    check("file", None, false);
}

#[test]
fn a_root_given_through_a_link_is_the_same_root() {
    let tree = Tree::new();
    let linked = tree.sandbox.at("outside/back");
    let located = resolve(&linked, &linked.join("src"), Path::new("main.rs")).unwrap();
    assert_eq!(located.path, "src/main.rs");
}

fn argument() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("src"),
        Just("deep"),
        Just("main.rs"),
        Just("x"),
        Just("to-dir"),
        Just("to-file"),
        Just("up-and-down"),
        Just("out"),
        Just("back"),
        Just("dangling"),
        Just("loop"),
        Just("new"),
        Just(".."),
        Just("."),
        Just(""),
    ];
    proptest::collection::vec(part, 1..8).prop_map(|parts| parts.join("/"))
}

#[test]
fn the_walk_agrees_with_the_kernel_wherever_the_kernel_gets() {
    let tree = Tree::new();
    let mut runner = proptest::test_runner::TestRunner::default();
    let outcome = runner.run(&argument(), |argument| {
        let Ok(located) = tree.resolve("src", &argument) else { return Ok(()) };
        let again = tree.resolve("", if located.path.is_empty() { "." } else { &located.path }).unwrap();
        prop_assert_eq!(&again, &located);
        if let Ok(kernel) = fs::canonicalize(tree.root.join("src").join(&argument)) {
            prop_assert_ne!(located.kind, Missing);
            let ours = fs::canonicalize(tree.root.join(&located.path)).unwrap();
            prop_assert_eq!(ours, kernel);
        }
        Ok(())
    });
    outcome.unwrap();
}
