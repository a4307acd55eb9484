//! `clariq-learned`: the command with learned models. `clariq` starts it where a model is needed;
//! the line below is where another engine would be named.

fn main() {
    clariq_command::main(Some(&clariq_bert::Torch))
}
