//! Reports of the work while it is done.

/// Receives notes and the progress of jobs. The command prints them; a library may want none.
pub trait Observer: Sync {
    /// Something that a user should know, such as that an index was rebuilt.
    fn note(&self, _text: &str) {}

    /// Something that a user may want to know.
    fn detail(&self, _text: &str) {}

    /// A job begins. Its number of steps may be unknown.
    fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Job> {
        Box::new(Silent)
    }

    /// A download begins; its steps are bytes.
    fn begin_download(&self, name: &str, bytes: Option<u64>) -> Box<dyn Job> {
        self.begin(name, bytes)
    }
}

/// A job that is being done.
pub trait Job: Send + Sync {
    /// `steps` more are done. Called from any thread.
    fn advance(&self, _steps: u64) {}

    /// Replaces the text beside the count.
    fn describe(&self, _text: &str) {}

    /// The job is done, with this result.
    fn finish(self: Box<Self>, _result: &str) {}
}

/// Ignores everything.
pub struct Silent;

impl Observer for Silent {}

impl Job for Silent {}
