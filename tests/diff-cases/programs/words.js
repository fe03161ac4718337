// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later

// Usage: words.js ROUNDS FILE: hashRows() takes ROUNDS times as long; all else is the same.
const fs = require('fs');

function load(path) { return fs.readFileSync(path, 'utf8'); }

function hashRows(words, rounds) {
        let sum = 0;

        for (let round = 0; round < rounds; round++)
                for (const word of words)
                        for (let i = 0; i < word.length; i++)
                                sum = (sum * 31 + word.charCodeAt(i)) | 0;
        return sum;
}

function count(words) {
        const counts = new Map();

        for (const word of words)
                counts.set(word, (counts.get(word) || 0) + 1);
        return counts;
}

function sortAll(words) { return words.slice().sort(); }

const words = load(process.argv[3]).split(/\s+/);
console.log(hashRows(words, Number(process.argv[2])), count(words).size, sortAll(words).length);
