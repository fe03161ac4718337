// SPDX-FileCopyrightText: joulecast authors
// SPDX-License-Identifier: GPL-2.0-or-later

// Usage: count FILE: counts the words of a text in a std::map; with -DHASH in a std::unordered_map.
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>

#ifdef HASH
using counts_of = std::unordered_map<std::string, int>;
#else
using counts_of = std::map<std::string, int>;
#endif

int main(int, char **argv)
{
        std::ifstream text(argv[1]);
        std::string word;
        counts_of counts;
        long sum = 0;

        while (text >> word)
                counts[word]++;
        for (const auto &count : counts)
                sum += count.second;
        std::cout << sum << " " << counts.size() << "\n";
}
