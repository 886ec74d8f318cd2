//! Every layout git knows, found as git itself finds it.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clearway_git::{DiscoverError, Repository, discover, index_entry_count, nested_repository};
use support::{Sandbox, link};

fn found(start: &Path) -> Repository {
    discover(start).unwrap().unwrap()
}

/// Compares our answer with git's own, and returns it.
fn found_like_git(sandbox: &Sandbox, relative: &str) -> Repository {
    let repository = found(&sandbox.at(relative));
    let ask = |question: &str| {
        let answer = sandbox.git(relative, &["rev-parse", "--path-format=absolute", question]);
        fs::canonicalize(answer).unwrap()
    };
    assert_eq!(repository.git_dir, ask("--git-dir"));
    assert_eq!(repository.common_dir, ask("--git-common-dir"));
    let inside = sandbox.git(relative, &["rev-parse", "--is-inside-work-tree"]) == "true";
    assert_eq!(repository.worktree, inside.then(|| ask("--show-toplevel")));
    repository
}

#[test]
fn a_plain_repository_is_found_from_its_root_and_from_below() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/a/b/c.txt", "");
    let expect = Repository {
        common_dir: root.join(".git"),
        git_dir: root.join(".git"),
        worktree: Some(root.clone()),
    };
    assert_eq!(found_like_git(&sandbox, "repo"), expect);
    assert_eq!(found_like_git(&sandbox, "repo/a/b"), expect);
    assert_eq!(found(&root.join("a/b/c.txt")), expect);
    assert_eq!(found(&root.join("not/yet/there.txt")), expect);
}

#[test]
fn a_git_directory_behind_a_link_is_named_where_it_lies() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    fs::rename(root.join(".git"), sandbox.at("kept")).unwrap();
    link(sandbox.at("kept"), root.join(".git"));
    let repository = found_like_git(&sandbox, "repo");
    assert_eq!((repository.git_dir, repository.common_dir), (sandbox.at("kept"), sandbox.at("kept")));
}

#[test]
fn a_repository_without_a_commit_or_on_a_detached_head_is_one() {
    let sandbox = Sandbox::new();
    sandbox.repository("detached");
    sandbox.git("detached", &["checkout", "--quiet", "--detach"]);
    found_like_git(&sandbox, "detached");
    fs::create_dir(sandbox.at("unborn")).unwrap();
    sandbox.git("unborn", &["init", "--quiet"]);
    found_like_git(&sandbox, "unborn");
    fs::create_dir(sandbox.at("sha256")).unwrap();
    sandbox.git("sha256", &["init", "--quiet", "--object-format=sha256"]);
    found_like_git(&sandbox, "sha256");
}

#[test]
fn linked_worktrees_share_the_common_directory_and_have_their_own_root() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git("main", &["worktree", "add", "--quiet", "../linked"]);
    let linked = found_like_git(&sandbox, "linked");
    assert_eq!(linked.common_dir, main.join(".git"));
    assert_eq!(linked.git_dir, main.join(".git/worktrees/linked"));
    assert_eq!(linked.worktree, Some(sandbox.at("linked")));
}

#[test]
fn a_linked_worktree_inside_the_main_one_is_the_innermost() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git("main", &["worktree", "add", "--quiet", "trees/inner"]);
    let inner = found_like_git(&sandbox, "main/trees/inner");
    assert_eq!(inner.common_dir, main.join(".git"));
    assert_eq!(inner.worktree, Some(main.join("trees/inner")));
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let sandbox = Sandbox::new();
    let library = sandbox.repository("library");
    let outer = sandbox.repository("outer");
    sandbox.git("outer", &["submodule", "--quiet", "add", library.to_str().unwrap(), "lib"]);
    let inner = found_like_git(&sandbox, "outer/lib");
    assert_eq!(inner.common_dir, outer.join(".git/modules/lib"));
    assert_eq!(inner.worktree, Some(outer.join("lib")));
}

#[test]
fn a_bare_repository_has_no_worktree() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("bare.git")).unwrap();
    sandbox.git("bare.git", &["init", "--quiet", "--bare"]);
    let bare = found_like_git(&sandbox, "bare.git");
    assert_eq!((bare.common_dir, bare.worktree), (sandbox.at("bare.git"), None));
    assert_eq!(found_like_git(&sandbox, "bare.git/refs").git_dir, sandbox.at("bare.git"));
}

#[test]
fn worktrees_around_a_hidden_bare_repository_have_roots_and_their_parent_has_none() {
    let sandbox = Sandbox::new();
    let origin = sandbox.repository("origin");
    fs::create_dir(sandbox.at("project")).unwrap();
    sandbox.git("project", &["clone", "--quiet", "--bare", origin.to_str().unwrap(), ".bare"]);
    sandbox.write("project/.git", "gitdir: ./.bare\n");
    sandbox.git("project", &["worktree", "add", "--quiet", "main"]);
    assert_eq!(found_like_git(&sandbox, "project").worktree, None);
    let main = found_like_git(&sandbox, "project/main");
    assert_eq!(main.common_dir, sandbox.at("project/.bare"));
    assert_eq!(main.worktree, Some(sandbox.at("project/main")));
}

#[test]
fn inside_a_git_directory_there_is_no_worktree() {
    let sandbox = Sandbox::new();
    sandbox.repository("repo");
    assert_eq!(found_like_git(&sandbox, "repo/.git/refs").worktree, None);
}

#[test]
fn a_separate_git_directory_is_followed() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("repo")).unwrap();
    sandbox.git("repo", &["init", "--quiet", "--separate-git-dir=../elsewhere"]);
    assert_eq!(found_like_git(&sandbox, "repo").git_dir, sandbox.at("elsewhere"));
}

#[test]
fn the_innermost_of_nested_repositories_wins() {
    let sandbox = Sandbox::new();
    let outer = sandbox.repository("outer");
    let inner = sandbox.repository("outer/vendor/inner");
    sandbox.write("outer/vendor/inner/src/lib.c", "");
    assert_eq!(found_like_git(&sandbox, "outer/vendor/inner/src").worktree, Some(inner));
    assert_eq!(found_like_git(&sandbox, "outer/vendor").worktree, Some(outer));
}

#[test]
fn a_link_to_a_repository_is_that_repository() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    link(&root, sandbox.at("link"));
    assert_eq!(found(&sandbox.at("link")), found(&root));
    let spelled = Path::new("/proc/self/root").join(root.strip_prefix("/").unwrap());
    assert_eq!(found(&spelled), found(&root));
}

#[test]
fn a_git_directory_that_is_a_link_is_followed() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    fs::create_dir(sandbox.at("other")).unwrap();
    link(root.join(".git"), sandbox.at("other/.git"));
    let other = found_like_git(&sandbox, "other");
    assert_eq!(other.common_dir, root.join(".git"));
}

#[test]
fn a_directory_merely_called_git_is_not_trusted() {
    let sandbox = Sandbox::new();
    let outer = sandbox.repository("outer");
    fs::create_dir_all(sandbox.at("outer/empty/.git")).unwrap();
    sandbox.write("outer/headless/.git/config", "");
    sandbox.write("outer/forged/.git/HEAD", "anything\n");
    sandbox.write("outer/half/.git/HEAD", "ref: refs/heads/main\n");
    for dir in ["outer/empty", "outer/headless"] {
        assert_eq!(found_like_git(&sandbox, dir).worktree, Some(outer.clone()), "{dir}");
    }
    for dir in ["outer/forged", "outer/half"] {
        assert!(matches!(discover(&sandbox.at(dir)), Err(DiscoverError::Damaged { .. })), "{dir}");
    }
}

#[test]
fn without_git_nothing_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("plain/file", "");
    assert_eq!(discover(&sandbox.at("plain")).unwrap(), None);
    assert_eq!(discover(Path::new("/")).unwrap(), None);
}

#[test]
fn a_broken_git_file_is_named_and_not_passed_over() {
    let sandbox = Sandbox::new();
    sandbox.repository("outer");
    for text in ["gitdir: /no/such/place\n", "gitdir: \n", "gitdir: a\0b\n", "", "something else\n"] {
        let file = sandbox.write("outer/inner/.git", text);
        match discover(&sandbox.at("outer/inner")) {
            Err(DiscoverError::BrokenGitfile { file: named, reason }) => {
                assert_eq!(named, file);
                assert!(!reason.is_empty());
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

#[test]
fn a_linked_worktree_whose_repository_moved_away_is_a_broken_git_file() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    sandbox.git("main", &["worktree", "add", "--quiet", "../linked"]);
    fs::rename(sandbox.at("main"), sandbox.at("moved")).unwrap();
    let error = discover(&sandbox.at("linked")).unwrap_err();
    assert!(matches!(error, DiscoverError::BrokenGitfile { .. }), "{error:?}");
}

#[test]
fn loops_of_links_end_in_an_error() {
    let sandbox = Sandbox::new();
    link("loop", sandbox.at("loop"));
    assert!(matches!(discover(&sandbox.at("loop")), Err(DiscoverError::Start { .. })));
    fs::create_dir(sandbox.at("dir")).unwrap();
    link(".git", sandbox.at("dir/.git"));
    assert!(matches!(discover(&sandbox.at("dir")), Err(DiscoverError::Unreadable { .. })));
}

/// Root may look everywhere, so for root the repository is simply found.
#[test]
fn a_git_directory_we_may_not_look_into_is_never_passed_over() {
    let sandbox = Sandbox::new();
    sandbox.repository("outer");
    let inner = sandbox.repository("outer/inner");
    fs::set_permissions(inner.join(".git"), Permissions::from_mode(0o000)).unwrap();
    let outcome = discover(&inner);
    fs::set_permissions(inner.join(".git"), Permissions::from_mode(0o700)).unwrap();
    match outcome {
        Ok(Some(repository)) if clearway_platform::files::uid() == 0 => {
            assert_eq!(repository.worktree, Some(inner));
        }
        Err(DiscoverError::Unreadable { path, .. }) => assert_eq!(path, inner.join(".git")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_head_that_is_a_link_into_refs_is_a_head() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    link("refs/heads/main", root.join(".git/HEAD"));
    found_like_git(&sandbox, "repo");
    fs::remove_file(root.join(".git/HEAD")).unwrap();
    link("elsewhere", root.join(".git/HEAD"));
    assert!(matches!(discover(&root), Err(DiscoverError::Damaged { .. })));
}

/// Git goes on to the directory above, where whoever holds something in the repository would be overlooked.
#[test]
fn a_damaged_repository_is_named_and_not_passed_over() {
    let damages: [fn(&Path); 6] = [
        |git_dir| fs::write(git_dir.join("HEAD"), "").unwrap(),
        |git_dir| fs::remove_file(git_dir.join("HEAD")).unwrap(),
        |git_dir| {
            fs::remove_file(git_dir.join("HEAD")).unwrap();
            fs::create_dir(git_dir.join("HEAD")).unwrap();
        },
        |git_dir| fs::remove_dir_all(git_dir.join("objects")).unwrap(),
        |git_dir| fs::remove_dir_all(git_dir.join("refs")).unwrap(),
        |git_dir| {
            fs::remove_dir_all(git_dir).unwrap();
            link("elsewhere", git_dir);
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let outer = sandbox.repository("outer");
        let inner = sandbox.repository("outer/inner");
        damage(&inner.join(".git"));
        for start in [inner.clone(), inner.join("src")] {
            fs::create_dir_all(&start).unwrap();
            let error = discover(&start).unwrap_err();
            assert!(matches!(error, DiscoverError::Damaged { .. }), "{number}: {error:?}");
        }
        assert_eq!(nested_repository(&outer, "inner/a"), Some(inner), "{number}");
    }
}

#[test]
fn a_relative_start_that_is_gone_is_an_error() {
    assert!(matches!(discover(Path::new("no-such-directory")), Err(DiscoverError::Start { .. })));
    assert!(matches!(discover(Path::new("")), Err(DiscoverError::Start { .. })));
}

#[test]
fn the_index_tells_how_many_files_a_worktree_has() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/a/second", "");
    sandbox.git("repo", &["add", "."]);
    assert_eq!(index_entry_count(&found(&root).git_dir), Some(2));
    sandbox.git("repo", &["worktree", "add", "--quiet", "../linked"]);
    assert_eq!(index_entry_count(&found(&sandbox.at("linked")).git_dir), Some(1));
}

#[test]
fn a_path_belongs_to_the_innermost_repository_above_it() {
    let sandbox = Sandbox::new();
    let outer = sandbox.repository("outer");
    let library = sandbox.repository("library");
    sandbox.git("outer", &["submodule", "--quiet", "add", library.to_str().unwrap(), "deep/lib"]);
    let inner = sandbox.repository("outer/vendor/inner");
    let innermost = sandbox.repository("outer/vendor/inner/more/innermost");
    let check = |path: &str, expect: Option<&Path>| {
        assert_eq!(nested_repository(&outer, path).as_deref(), expect, "{path}");
    };
    check("file", None);
    check("vendor", None);
    check("vendor/inner", None);
    check("vendor/inner/file", Some(&inner));
    check("vendor/inner/absent/deeply/so", Some(&inner));
    check("vendor/inner/more/innermost", Some(&inner));
    check("vendor/inner/more/innermost/file", Some(&innermost));
    check("deep/lib", None);
    check("deep/lib/file", Some(&outer.join("deep/lib")));
    check("", None);
    check("/", None);
    check("../outer/vendor/inner/file", None);
}
