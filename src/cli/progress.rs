//! Bars for work that takes longer than a second, where standard error is a terminal.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How long work may take before anything is drawn.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the bar moves.
const REDRAW: Duration = Duration::from_millis(100);

/// What is counted while work goes on.
#[derive(Clone, Copy)]
pub enum Total {
    /// Nobody knows how far the work is.
    Unknown,
    /// About so many bytes.
    Bytes(u64),
    /// So many steps.
    Steps(u64),
}

/// Work in progress. A thread of its own draws, so that the work is not held up; what it drew is gone when this is dropped.
pub struct Progress {
    position: Arc<AtomicU64>,
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work that begins now, called by a verb and what it is done to.
    pub fn start(what: &str, total: Total) -> Progress {
        let position = Arc::new(AtomicU64::new(0));
        let watcher = io::stderr().is_terminal().then(|| {
            let (done, ended) = channel();
            let (what, position) = (what.to_owned(), Arc::clone(&position));
            let thread = std::thread::spawn(move || {
                if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let bar = bar(what, total);
                while ended.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
                    bar.set_position(position.load(Ordering::Relaxed));
                    bar.tick();
                }
                bar.finish_and_clear();
            });
            (done, thread)
        });
        Progress { position, watcher }
    }

    /// Says how far the work is.
    pub fn at(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.watcher.take() {
            drop(done);
            // Drawing is not worth a failure.
            let _ = thread.join();
        }
    }
}

fn bar(what: String, total: Total) -> ProgressBar {
    let (bar, template) = match total {
        Total::Unknown => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
        Total::Bytes(bytes) => {
            (ProgressBar::new(bytes), "{msg} {bar:40} {bytes} of about {total_bytes} {eta}")
        }
        Total::Steps(steps) => (ProgressBar::new(steps), "{msg} {bar:40} {pos} of {len} {eta}"),
    };
    let bar = bar.with_message(what);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
