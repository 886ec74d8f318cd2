//! Text to a tree of tokens and brace branches. Knows nothing of segments, `..` or reserved names.

use std::iter::Peekable;
use std::str::CharIndices;
use std::sync::Arc;

use super::error::{BRACE_DEPTH_MAX, PatternError, PatternErrorKind};
use super::scalars::Class;
use super::token::Token;
use crate::path::Fold;

/// A token and the byte position it was read from.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) token: Token,
    pub(super) position: usize,
}

#[derive(Debug)]
pub(super) enum Node {
    Leaf(Located),
    Branch(Vec<Vec<Node>>),
}

/// Reads a whole pattern text, which must be NFC and free of refused scalars.
pub(super) fn lex(text: &str, fold: Fold) -> Result<Vec<Node>, PatternError> {
    let mut lexer = Lexer { scalars: text.char_indices().peekable(), fold };
    let (nodes, _) = lexer.sequence(0)?;
    Ok(nodes)
}

struct Lexer<'text> {
    scalars: Peekable<CharIndices<'text>>,
    fold: Fold,
}

/// What ended a sequence of nodes.
#[derive(PartialEq)]
enum End {
    Text,
    Comma,
    Brace,
}

impl Lexer<'_> {
    /// Reads up to the end of the text or, inside braces, up to `,` or `}`; those two are literals outside.
    fn sequence(&mut self, depth: usize) -> Result<(Vec<Node>, End), PatternError> {
        let mut nodes = Vec::new();
        while let Some((position, scalar)) = self.scalars.next() {
            let token = match scalar {
                ',' if depth > 0 => return Ok((nodes, End::Comma)),
                '}' if depth > 0 => return Ok((nodes, End::Brace)),
                '{' => {
                    nodes.push(self.branch(position, depth + 1)?);
                    continue;
                }
                '/' => Token::Slash,
                '*' => self.stars(),
                '?' => Token::Any,
                '[' => self.class(position)?,
                '\\' => self.escaped(position)?,
                _ => self.literal(scalar),
            };
            nodes.push(Node::Leaf(Located { token, position }));
        }
        Ok((nodes, End::Text))
    }

    fn branch(&mut self, opened: usize, depth: usize) -> Result<Node, PatternError> {
        if depth > BRACE_DEPTH_MAX {
            return Err(PatternErrorKind::BraceTooDeep { depth_max: BRACE_DEPTH_MAX }.at(opened));
        }
        let mut branches = Vec::new();
        loop {
            let (nodes, end) = self.sequence(depth)?;
            branches.push(nodes);
            match end {
                End::Comma => {}
                End::Brace => return Ok(Node::Branch(branches)),
                End::Text => return Err(PatternErrorKind::UnclosedBrace.at(opened)),
            }
        }
    }

    /// A run of stars: exactly two may become a globstar, any other number is one star.
    fn stars(&mut self) -> Token {
        let mut run = 1;
        while self.scalars.next_if(|(_, scalar)| *scalar == '*').is_some() {
            run += 1;
        }
        if run == 2 { Token::DoubleStar } else { Token::Star }
    }

    fn escaped(&mut self, position: usize) -> Result<Token, PatternError> {
        match self.scalars.next() {
            Some((_, '/')) => Ok(Token::Slash),
            Some((_, scalar)) => Ok(self.literal(scalar)),
            None => Err(PatternErrorKind::TrailingBackslash.at(position)),
        }
    }

    fn literal(&self, scalar: char) -> Token {
        Token::Literal(self.fold.scalar(scalar))
    }

    fn class(&mut self, opened: usize) -> Result<Token, PatternError> {
        let negated = self.scalars.next_if(|(_, scalar)| matches!(scalar, '!' | '^')).is_some();
        let ranges = self.members(opened)?;
        let class = Class::new(negated, ranges, self.fold);
        if class.effective.is_empty() {
            return Err(PatternErrorKind::EmptyClass.at(opened));
        }
        if class.negated && class.members.is_empty() {
            return Ok(Token::Any);
        }
        Ok(match class.effective.single() {
            Some(scalar) => Token::Literal(scalar),
            None => Token::Class(Arc::new(class)),
        })
    }

    fn members(&mut self, opened: usize) -> Result<Vec<(u32, u32)>, PatternError> {
        let mut ranges = Vec::new();
        loop {
            let (position, scalar) = self.scalars.next().ok_or(PatternErrorKind::UnclosedClass.at(opened))?;
            if scalar == ']' && !ranges.is_empty() {
                return Ok(ranges);
            }
            let low = self.member(scalar, opened)?;
            let high = if self.range_follows() { self.range_end(opened)? } else { low };
            if high < low {
                return Err(PatternErrorKind::ReversedRange.at(position));
            }
            ranges.push((u32::from(low), u32::from(high)));
        }
    }

    /// Whether the next scalar is a `-` that joins two members, which the last one before `]` does not.
    fn range_follows(&self) -> bool {
        let mut ahead = self.scalars.clone();
        matches!(ahead.next(), Some((_, '-'))) && !matches!(ahead.next(), Some((_, ']')) | None)
    }

    fn range_end(&mut self, opened: usize) -> Result<char, PatternError> {
        self.scalars.next();
        let (_, scalar) = self.scalars.next().ok_or(PatternErrorKind::UnclosedClass.at(opened))?;
        self.member(scalar, opened)
    }

    fn member(&mut self, scalar: char, opened: usize) -> Result<char, PatternError> {
        if scalar != '\\' {
            return Ok(scalar);
        }
        self.scalars.next().map(|(_, escaped)| escaped).ok_or(PatternErrorKind::UnclosedClass.at(opened))
    }
}
