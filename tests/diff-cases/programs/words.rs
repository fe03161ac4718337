// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later

// Usage: words FILE: counts the words of a text; with --cfg alloc it copies each word that it looks into.
use std::collections::HashMap;

#[inline(never)]
fn weigh(words: &[&str]) -> usize {
    let mut sum = 0;
    for _ in 0..6 {
        for word in words {
            #[cfg(alloc)]
            let word = word.to_string();
            sum += word.bytes().filter(|byte| *byte == b'a').count();
        }
    }
    sum
}

#[inline(never)]
fn count<'a>(words: &[&'a str]) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(*word).or_insert(0) += 1;
    }
    counts
}

fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    println!("{} {}", weigh(&words), count(&words).len());
}
