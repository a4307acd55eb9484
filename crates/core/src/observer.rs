//! Reports of the work while it is done.

/// Receives notes and the progress of tasks. The command prints them; a library may want none.
pub trait Observer: Sync {
    /// Something that a user should know, such as that an index was rebuilt.
    fn note(&self, _text: &str) {}

    /// Something that a user may want to know.
    fn detail(&self, _text: &str) {}

    /// A task begins. Its number of steps may be unknown.
    fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Task> {
        Box::new(Silent)
    }

    /// A download begins; its steps are bytes.
    fn begin_download(&self, name: &str, bytes: Option<u64>) -> Box<dyn Task> {
        self.begin(name, bytes)
    }
}

/// A task that is being done.
pub trait Task: Send + Sync {
    /// `steps` more are done. Called from any thread.
    fn advance(&self, _steps: u64) {}

    /// Replaces the text beside the count.
    fn describe(&self, _text: &str) {}

    /// The task is done, with this result.
    fn finish(self: Box<Self>, _result: &str) {}
}

/// Ignores everything.
pub struct Silent;

impl Observer for Silent {}

impl Task for Silent {}
