//! Predicted needs reach the stages that use them; labels never do.

use crate::common::{Earlier, system, with_context};
use clariq_core::{Need, Request};
use clariq_rank::Batch;
use clariq_track_clariq::LabelledTopic;

#[test]
fn a_request_holds_neither_label_nor_description() {
    let topic = LabelledTopic {
        id: "1".into(),
        request: "r".into(),
        description: "what I meant".into(),
        need: Need::new(1),
    };
    assert_eq!(Request::from(&topic), Request::new("1", "r"));
}

const FUSED: &str = r#"
    stage = "fuse"
    method = "reciprocal-rank"
    depth = 9
    [[stages.inputs]]
    stages = [{ stage = "no_question", rank = 1 }]
    [[stages.inputs]]
    stages = [{ stage = "no_question", rank = 1, when_need = 1 }]
"#;

#[test]
fn predictions_reach_the_stages_inside_a_stage() {
    let fused = system(FUSED).pipeline;
    assert!(fused.about().any(|stage| stage.sees_need));
    let score = |need: Option<u8>| {
        let need = need.and_then(Need::new);
        let requests = [Request { need, ..Request::new("1", "r") }];
        with_context(&Earlier::new(&[]), |context| {
            let batch = Batch::new(context, &requests);
            fused.run(&batch, batch.unranked()).unwrap()[0][0].score
        })
    };
    assert_eq!(score(None), 1.0 / 61.0);
    assert_eq!((score(Some(1)), score(Some(2))), (2.0 / 61.0, 1.0 / 61.0));
}
