//! boardcast: from a DGT board to the wall.

pub mod game;
