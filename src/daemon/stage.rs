//! Tasks that stop together.

use std::{future::Future, task::Poll, time::Duration};

use tokio::{
    task::{JoinError, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, warn};

use super::Failure;

/// Tasks of one kind, and how long they may take to stop.
pub(super) struct Stage {
    name: &'static str,
    stop: CancellationToken,
    patience: Duration,
    tasks: JoinSet<Result<(), String>>,
}

impl Stage {
    pub(super) fn new(name: &'static str, patience: Duration) -> Self {
        Self { name, stop: CancellationToken::new(), patience, tasks: JoinSet::new() }
    }

    /// What the tasks are stopped with.
    pub(super) fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_fallible(async {
            task.await;
            Ok(())
        });
    }

    pub(super) fn spawn_fallible(
        &mut self,
        task: impl Future<Output = Result<(), String>> + Send + 'static,
    ) {
        self.tasks.spawn(task.instrument(Span::current()));
    }

    /// Stops the tasks; those that do not stop in time are dropped where they stand.
    pub(super) async fn finish(&mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(self.patience, ended).await.is_err() {
            warn!(task = self.name, left = self.tasks.len(), "did not stop in time");
            self.tasks.abort_all();
        }
    }

    fn failure(&self, ended: Result<Result<(), String>, JoinError>) -> Failure {
        let reason = match ended {
            Ok(Ok(())) => "it ended by itself".to_owned(),
            Ok(Err(reason)) => reason,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => panic_text(&*panic),
                Err(error) => error.to_string(),
            },
        };
        Failure { task: self.name, reason }
    }
}

/// Completes when a task of any stage ends, which none should before it is stopped.
pub(super) async fn first_end(stages: &mut [Stage]) -> Failure {
    std::future::poll_fn(|context| {
        for stage in &mut *stages {
            if let Poll::Ready(Some(ended)) = stage.tasks.poll_join_next(context) {
                return Poll::Ready(stage.failure(ended));
            }
        }
        Poll::Pending
    })
    .await
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a text"))
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use super::*;

    fn stages() -> [Stage; 2] {
        ["first", "second"].map(|name| Stage::new(name, Duration::from_millis(20)))
    }

    #[tokio::test]
    async fn the_end_of_any_task_is_told_with_its_reason() {
        type Task = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;
        let tasks: [(Task, &str); 3] = [
            (Box::pin(async { Ok(()) }), "it ended by itself"),
            (Box::pin(async { Err("no disk".to_owned()) }), "no disk"),
            (Box::pin(async { panic!("index {}", 7) }), "panic: index 7"),
        ];
        for (task, reason) in tasks {
            let mut stages = stages();
            stages[0].spawn(std::future::pending());
            stages[1].spawn_fallible(task);
            let failure = first_end(&mut stages).await;
            assert_eq!((failure.task, failure.reason.as_str()), ("second", reason));
        }
    }

    #[tokio::test]
    async fn a_stage_stops_its_tasks_and_drops_those_that_hang() {
        let [mut good, mut bad] = stages();
        let stop = good.stop();
        good.spawn(async move {
            stop.cancelled().await;
        });
        bad.spawn(std::future::pending());
        good.finish().await;
        assert!(good.tasks.is_empty());
        bad.finish().await;
        assert!(bad.tasks.join_next().await.unwrap().unwrap_err().is_cancelled());
    }
}
