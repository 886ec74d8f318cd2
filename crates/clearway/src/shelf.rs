//! The shelf of snapshots, which is git's.

use crate::failures::{directory_of, file_failure};
use clearway_core::failure::{Details, Failure};
use clearway_core::grasp::Grasp;
use clearway_core::harm::Gone;
use clearway_core::hint::{self, Hint};
use clearway_core::ids::{AgentId, Seq};
use clearway_core::limits::{
    SNAPSHOT_BYTES_MAX, SNAPSHOT_IGNORED_BYTES_MAX, SNAPSHOT_IGNORED_FILE_BYTES_MAX,
    SNAPSHOT_IGNORED_FILES_MAX,
};
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::snapshot::{BUILD_DIRECTORIES, SnapshotCause};
use clearway_core::text::shown;
use clearway_core::time::Wall;
use clearway_git::{
    self as git, Draft, Git, GitError, KeptFile, Label, Lack, Listed, Manner, NoRoom, SNAPSHOTS,
    SnapshotError, Staged,
};
use clearway_kernel::{
    Back, BackOrder, BackPlan, BackState, DraftOrder, Drafted, Shelf, SnapshotFile, SnapshotSeen,
};
use clearway_platform::stopwatch::Stopwatch;
use clearway_platform::{files, random};
use std::path::{Path, PathBuf};

/// Which ignored files are kept.
const IGNORED: git::IgnoredRules<'static> = git::IgnoredRules {
    file_bytes_max: SNAPSHOT_IGNORED_FILE_BYTES_MAX,
    bytes_max: SNAPSHOT_IGNORED_BYTES_MAX,
    files_max: SNAPSHOT_IGNORED_FILES_MAX,
    build_directories: &BUILD_DIRECTORIES,
};

/// What makes room where the checkout lies on the full disk too: what is not kept anyway, and what a person types.
const MADE_ANEW: &str = "make room with what git ignores and a build makes anew, such as target/, of which nothing is \
                         kept; or let a person remove it, in a terminal of their own";

/// Ignored files that are named where they cannot be kept.
const IGNORED_NAMED_MAX: usize = 3;
/// Bytes of a word that no other snapshot has.
const NONCE_BYTES: usize = 8;

/// The snapshots of a checkout.
pub(crate) struct GitShelf<'m> {
    pub(crate) git: Git,
    pub(crate) root: PathBuf,
    /// What has no number yet. It is forgotten with the machine.
    pub(crate) drafts: &'m mut Vec<Draft>,
}

impl Shelf for GitShelf<'_> {
    fn draft(&mut self, order: &DraftOrder) -> Result<Option<Drafted>, Failure> {
        let paths: Vec<&str> = order.paths.iter().map(String::as_str).collect();
        let name = |gone: &Gone| git::Gone { name: gone.name.clone(), is_deep: gone.is_deep };
        let gone: Vec<git::Gone> = order.gone.iter().map(name).collect();
        let label = Label {
            cause: order.cause.word().to_owned(),
            reason: order.reason.clone(),
            at_ms: order.at.0,
            worktree: self.root.clone(),
        };
        let wanted = git::SnapshotOrder {
            worktree: &self.root,
            paths: &paths,
            spared: spared(&order.grasp),
            gone: &gone,
            label,
            nonce: nonce()?,
            bytes_max: SNAPSHOT_BYTES_MAX,
            ignored: order.ignored_beside.as_ref().map(|_| IGNORED),
        };
        let hurried = self.git.clone().until(Stopwatch::start().at_ms(order.within_ms));
        let Some(draft) = hurried.snapshot(wanted).map_err(|error| failure(&error))? else { return Ok(None) };
        if let Some(beside) = order.ignored_beside.as_ref().filter(|_| !draft.pack.is_empty()) {
            let place = files::with_suffix(beside, &draft.commit);
            let written = directory_of(&place).and_then(|()| files::write_atomic(&place, &draft.pack));
            written.map_err(|error| file_failure(&error))?;
        }
        let drafted = Drafted {
            commit: draft.commit.clone(),
            files: draft.manifest.files.iter().map(file).collect(),
            left_out: draft.left_out.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        };
        self.drafts.push(draft);
        Ok(Some(drafted))
    }

    fn keep(&mut self, commit: &str, agent: AgentId, number: Seq) -> Result<(), Failure> {
        let Some(at) = self.drafts.iter().position(|draft| draft.commit == commit) else {
            return Err(
                Failure::new(Slug::Internal, format!("there is no draft {commit}")).hint(hint::DOCTOR)
            );
        };
        self.drafts.swap_remove(at).keep(&reference(agent, number)).map_err(|error| failure(&error))
    }

    fn list(&mut self) -> Result<Vec<SnapshotSeen>, Failure> {
        let listed = self.git.snapshots(&self.root).map_err(|error| failure(&error))?;
        Ok(listed.into_iter().filter_map(seen).collect())
    }

    fn forget(&mut self, snapshots: &[SnapshotSeen]) -> Result<(), Failure> {
        let named = |seen: &SnapshotSeen| (reference(seen.agent, seen.number), seen.commit.clone());
        let named: Vec<(String, String)> = snapshots.iter().map(named).collect();
        self.git.forget_snapshots(&self.root, &named).map_err(|error| failure(&error))
    }

    fn files(&mut self, commit: &str) -> Result<Vec<SnapshotFile>, Failure> {
        let manifest = self.git.snapshot_manifest(&self.root, commit).map_err(|error| failure(&error))?;
        Ok(manifest.files.iter().map(file).collect())
    }

    fn changed_beside(&mut self, paths: &[String]) -> Result<Vec<String>, Failure> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        self.git.changed_beside(&self.root, &paths).map_err(|error| unanswered(&error))
    }

    fn plan(&mut self, order: &BackOrder) -> Result<BackPlan, Failure> {
        self.with_order(order, |git, order| git.plan_back(order))
    }

    fn plan_anew(&mut self, commit: &str) -> Result<Option<BackPlan>, Failure> {
        let plan = self.git.plan_anew(&self.root, commit).map_err(|error| failure(&error))?;
        Ok(plan.map(|plan| back_plan(&plan)))
    }

    fn remake(&mut self, commit: &str) -> Result<PathBuf, Failure> {
        self.git.remake_checkout(&self.root, commit).map_err(|error| failure(&error))
    }

    fn bring_back(&mut self, order: &BackOrder) -> Result<BackPlan, Failure> {
        self.with_order(order, |git, order| git.bring_back(order))
    }
}

impl GitShelf<'_> {
    fn with_order(
        &self,
        order: &BackOrder,
        act: impl Fn(&Git, &git::BackOrder<'_>) -> Result<git::BackPlan, SnapshotError>,
    ) -> Result<BackPlan, Failure> {
        let paths: Vec<&str> = order.paths.iter().map(String::as_str).collect();
        let manner = if order.over_changes { Manner::Whatever } else { Manner::OnlyUnchanged };
        let unchanged = order.unchanged.iter().map(PathBuf::from).collect();
        let others = order.others.keys().map(PathBuf::from).collect();
        let (worktree, commit) = (self.root.as_path(), order.commit.as_str());
        let place = files::with_suffix(&order.ignored_beside, commit);
        // What is not there is named, file by file.
        let pack = std::fs::read(place).unwrap_or_default();
        let order =
            git::BackOrder { worktree, commit, paths: &paths, manner, unchanged, others, pack: &pack };
        act(&self.git, &order).map(|plan| back_plan(&plan)).map_err(|error| failure(&error))
    }
}

fn reference(agent: AgentId, number: Seq) -> String {
    format!("{SNAPSHOTS}{agent}/{}", number.0)
}

/// What is left alone by something that destroys no more than this.
fn spared(grasp: &Grasp) -> git::Spared<'_> {
    git::Spared { tracked: !grasp.tracked, untracked: !grasp.untracked, but_in: &grasp.onto }
}

fn nonce() -> Result<String, Failure> {
    let mut bytes = [0; NONCE_BYTES];
    random::fill(&mut bytes)
        .map_err(|error| Failure::new(Slug::Internal, error.to_string()).hint(hint::DOCTOR))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn file(file: &KeptFile) -> SnapshotFile {
    SnapshotFile {
        path: file.path.to_string_lossy().into_owned(),
        state: file.state.word(),
        is_staged: file.staged != Staged::Same,
        is_link: file.is_link(),
        mode: file.mode,
        bytes: file.bytes,
    }
}

/// A snapshot of a name that no agent can have is none of ours.
fn seen(listed: Listed) -> Option<SnapshotSeen> {
    let agent = listed.reference.strip_prefix(SNAPSHOTS)?.split('/').next()?;
    let manifest = listed.manifest;
    Some(SnapshotSeen {
        number: Seq(listed.number),
        commit: listed.commit,
        agent: AgentId::parse(agent)?,
        worktree: manifest.label.worktree.display().to_string(),
        base: manifest.base,
        cause: SnapshotCause::from_word(&manifest.label.cause),
        reason: manifest.label.reason,
        at: Wall(manifest.label.at_ms),
        files: manifest.file_count,
        bytes: manifest.bytes,
    })
}

fn back_plan(plan: &git::BackPlan) -> BackPlan {
    BackPlan { files: plan.files.iter().map(back).collect(), resumes: plan.resumes }
}

fn back(back: &git::Back) -> Back {
    let state = match back.state {
        git::BackState::Same => BackState::Same,
        git::BackState::Written => BackState::Restored,
        git::BackState::Removed => BackState::Removed,
        git::BackState::ChangedSince => BackState::ChangedSince,
        git::BackState::WithOthers => BackState::WithOthers,
        git::BackState::InTheWay => BackState::InTheWay,
        git::BackState::Lost => BackState::Lost,
    };
    Back { file: file(&back.file), state, restages: back.restages, is_dirty: back.is_dirty }
}

/// Why git did not answer.
pub(crate) fn unanswered(error: &GitError) -> Failure {
    match error {
        GitError::Missing => Failure::new(Slug::GitMissing, error.to_string())
            .hint("install git, or put it on PATH: what is not committed is asked of it"),
        GitError::NoRoom { missing, .. } => no_room(error.to_string(), missing),
        _ => Failure::new(Slug::GitFailed, error.to_string())
            .hint(way_round(&error.to_string()).unwrap_or(hint::ASK_GIT)),
    }
}

/// What to say where git found its disk full.
fn no_room(message: String, missing: &NoRoom) -> Failure {
    let NoRoom { disk, free_bytes, lack, holds_checkout } = missing;
    let disk = disk.display().to_string();
    let place = shell::word(&disk);
    let look = match lack {
        Lack::Bytes => format!("make room on that disk; see how much there is: df -h {place}"),
        Lack::Files => format!("remove files on that disk, however small; see how many fit: df -i {place}"),
        Lack::Quota => {
            format!("remove files of yours on {place}, or have the quota raised; see it: quota -s")
        }
    };
    let fields = vec![("disk", disk.into()), ("free_bytes", (*free_bytes).into())];
    let failure = Failure::new(Slug::StoreFull, message).details(Details::Fields(fields));
    let failure = if *holds_checkout { failure.hint(MADE_ANEW) } else { failure };
    failure.hint(look)
}

/// What helps where git says what is wrong.
pub(crate) fn way_round(said: &str) -> Option<&'static str> {
    if said.contains("Read-only file system") {
        return Some(
            "git cannot write there: a person makes the disk writable, or works on a copy elsewhere",
        );
    }
    if said.contains("index.lock") {
        return Some("another git is at it; if none runs any more, a person removes the file it names");
    }
    BROKEN_INDEX.iter().any(|text| said.contains(text)).then_some(INDEX_ANEW)
}

/// What git says of an index that it cannot read.
const BROKEN_INDEX: [&str; 2] = ["index file smaller than expected", "index file corrupt"];
/// Git itself makes no new one as long as that is there.
const INDEX_ANEW: &str = "put the broken index aside and have a new one made, which touches no file and forgets what was \
                          staged or merged: i=$(git rev-parse --git-path index) && mv \"$i\" \"$i.broken\" && git read-tree HEAD";

fn failure(error: &SnapshotError) -> Failure {
    match error {
        SnapshotError::Git(error) => unanswered(error),
        SnapshotError::TooLarge { bytes, bytes_max, largest } => {
            let named: Vec<String> = largest
                .iter()
                .map(|(path, bytes)| format!("{} ({})", name(path), megabytes(*bytes)))
                .collect();
            let message = format!(
                "what is not committed has {}, more than the {} of a snapshot; the largest: {}",
                megabytes(*bytes),
                megabytes(*bytes_max),
                named.join(", ")
            );
            Failure::new(Slug::SnapshotTooLarge, message)
                .hint("commit or move the largest, or let git ignore them")
                .hint("keep a part: clearway snapshot PATH")
        }
        SnapshotError::LostIgnored { paths } => {
            let named: Vec<String> = paths.iter().take(IGNORED_NAMED_MAX).map(|path| name(path)).collect();
            let more = match paths.len().saturating_sub(IGNORED_NAMED_MAX) {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            let message = format!(
                "of what git ignores {} of each file and {} together are kept, which leaves out {}{more}",
                megabytes(SNAPSHOT_IGNORED_FILE_BYTES_MAX),
                megabytes(SNAPSHOT_IGNORED_BYTES_MAX),
                named.join(", ")
            );
            Failure::new(Slug::SnapshotTooLarge, message)
                .hint("move it somewhere else instead, or let a person remove it")
        }
        SnapshotError::Unreadable { paths } => {
            let named: Vec<String> = paths.iter().take(5).map(|path| name(path)).collect();
            let message = format!("cannot read what is to be kept: {}", named.join(", "));
            Failure::new(Slug::SnapshotUnreadable, message)
                .hint("make it readable, or keep the rest: clearway snapshot PATH")
        }
        SnapshotError::Unwritable { path, source } => {
            let message = format!("cannot write {}: {source}", name(path));
            Failure::new(Slug::RestoreFailed, message)
                .hint(Hint::from("the snapshot is untouched; make room for it, then run the same again"))
        }
        SnapshotError::NoSnapshot { .. } => {
            Failure::new(Slug::NotFound, error.to_string()).hint(hint::SNAPSHOTS)
        }
    }
}

fn name(path: &Path) -> String {
    shown(&path.display().to_string())
}

fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}
