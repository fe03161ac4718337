/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "fuzz.h"
#include "hold/journal.h"
#include "util/util.h"

/*
 * restore.ini, which root reads after a power cut: an accepted journal names only settings of the list, within their
 * ranges, and is parsed the same after printing. The end with its checksum is added here, else no mutation would pass
 * it.
 */

static void check_entry(const struct journal_entry *entry)
{
        const struct attribute *attribute = attribute_find(entry->name);

        if (entry->state == JOURNAL_FILE) {
                fuzz_assert(attribute_scratch_name(entry->name) && !strstr(entry->name, "/../"));
                return;
        }
        fuzz_assert(attribute && !strstr(entry->name, "/../") && entry->state < JOURNAL_FILE);
        fuzz_assert(attribute_restorable(attribute, entry->original));
        fuzz_assert(!entry->read[0] || attribute_restorable(attribute, entry->read));
        fuzz_assert(entry->state != JOURNAL_OURS || entry->read[0]);
}

static void check_again(const struct journal *journal)
{
        struct journal again;
        size_t length;
        _cleanup_free_ char *text = journal_print(journal, false, &length);

        fuzz_assert(text && journal_parse(text, length, "again", NULL, &again) == 0);
        fuzz_assert(again.n == journal->n);
        fuzz_assert(journal->n == 0 ||
                    memcmp(again.entries, journal->entries, again.n * sizeof(*again.entries)) == 0);
        journal_clear(&again);
}

static void parse(const char *text, size_t length)
{
        struct journal journal;

        if (journal_parse(text, length, "fuzz", NULL, &journal) < 0)
                return;
        for (size_t i = 0; i < journal.n; i++)
                check_entry(&journal.entries[i]);
        check_again(&journal);
        journal_clear(&journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = NULL;
        size_t entries = 0;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        int n;

        parse((const char *)data, size);
        for (size_t i = 0; i < size; i++) {
                hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
                entries += data[i] == '[' && (i == 0 || data[i - 1] == '\n');
        }
        n = asprintf(&text, "%.*s[end]\nentries = %zu\nchecksum = %016llx\n", (int)size, (const char *)data,
                     entries ? entries - 1 : 0, (unsigned long long)hash);
        fuzz_assert(n > 0);
        parse(text, (size_t)n);
        return 0;
}
