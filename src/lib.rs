//! boardcast: from a DGT board to the wall.

pub mod game;

pub mod hall;

pub mod config;

pub mod daemon;

pub mod view;

pub mod replay;

pub mod accuracy;

pub mod cli;

pub mod sim;
