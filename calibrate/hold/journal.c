/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "journal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "util/fnv.h"
#include "util/ini-text.h"
#include "util/text.h"
#include "util/util.h"

#define JOURNAL_VERSION 1
#define ENTRIES_MAX 4096

static const char *const state_names[JOURNAL_STATES] = { "untouched", "pending", "ours", "file" };

void journal_clear(struct journal *journal)
{
        free(journal->entries);
        *journal = (struct journal){ 0 };
}

struct journal_entry *journal_find(const struct journal *journal, const char *name)
{
        for (size_t i = 0; i < journal->n; i++)
                if (strcmp(journal->entries[i].name, name) == 0)
                        return &journal->entries[i];
        return NULL;
}

int journal_add(struct journal *journal, const struct journal_entry *entry)
{
        if (journal->n == ENTRIES_MAX)
                return -EOVERFLOW;
        if (util_grow(&journal->entries, &journal->capacity, journal->n + 1, sizeof(*journal->entries)) < 0)
                return -ENOMEM;
        journal->entries[journal->n++] = *entry;
        return 0;
}

static void print_entry(FILE *file, const struct journal_entry *entry, size_t number,
                        enum journal_state state)
{
        if (state == JOURNAL_FILE) {
                fprintf(file, "[file %zu]\nname = %s\n", number, entry->name);
                return;
        }
        fprintf(file, "[setting %zu]\nname = %s\n", number, entry->name);
        if (entry->device[0])
                fprintf(file, "device = %s\n", entry->device);
        fprintf(file, "original = %s\nstate = %s\n", entry->original, state_names[state]);
        if (entry->written[0])
                fprintf(file, "written = %s\n", entry->written);
        if (entry->read[0])
                fprintf(file, "read = %s\n", entry->read);
}

char *journal_print(const struct journal *journal, bool all_pending, size_t *ret_length)
{
        struct text_kept kept;
        FILE *file = text_open(&kept);
        char *text;

        if (!file)
                return NULL;
        fprintf(file, "[journal]\nversion = %d\nboot_id = %s\n", JOURNAL_VERSION, journal->boot_id);
        for (size_t i = 0; i < journal->n; i++) {
                enum journal_state state = journal->entries[i].state;

                print_entry(file, &journal->entries[i], i + 1,
                            all_pending && state != JOURNAL_FILE ? JOURNAL_PENDING : state);
        }
        fflush(file);
        fprintf(file, "[end]\nentries = %zu\nchecksum = %016" PRIx64 "\n", journal->n,
                fnv_add(FNV_BEGIN, kept.text, kept.length));
        text = text_close(file, &kept);
        if (text)
                *ret_length = kept.length;
        return text;
}

struct parser {
        struct journal journal;
        char section[32];        /* section of the key before */
        bool version, end, sum;
        uint64_t checksum;       /* checksum of the text before [end] */
};

static int copy(const struct ini_place *place, const char *key, const char *value, char *buf, size_t size)
{
        if (buf[0])
                return ini_error(place, "%s occurs twice", key);
        if (!*value || strlen(value) >= size)
                return ini_error(place, "%s = %.60s is invalid", key, value);
        memcpy(buf, value, strlen(value) + 1);
        return 0;
}

static int set_head(struct parser *parser, const struct ini_place *place, const char *key, const char *value)
{
        double number;
        int err;

        if (strcmp(key, "boot_id") == 0 && value[strspn(value, BOOT_ID)])
                return ini_error(place, "boot_id = %.60s is invalid", value);
        if (strcmp(key, "boot_id") == 0)
                return *value ? copy(place, key, value, parser->journal.boot_id, JOURNAL_BOOT_MAX) : 0;
        if (strcmp(key, "version"))
                return ini_error(place, "unknown key \"%s\" in [journal]", key);
        err = ini_number(place, key, value, JOURNAL_VERSION, JOURNAL_VERSION, &number);
        parser->version = !err;
        return err;
}

static int set_end(struct parser *parser, const struct ini_place *place, const char *key, const char *value)
{
        char expected[32];
        double number;
        int err;

        parser->end = true;
        if (strcmp(key, "entries") == 0) {
                err = ini_number(place, key, value, 0, ENTRIES_MAX, &number);
                if (!err && (size_t)number != parser->journal.n)
                        err = ini_error(place, "entries are missing");
                return err;
        }
        snprintf(expected, sizeof(expected), "%016" PRIx64, parser->checksum);
        if (strcmp(key, "checksum") || strcmp(value, expected))
                return ini_error(place, "the checksum is wrong");
        parser->sum = true;
        return 0;
}

static int set_state(struct journal_entry *entry, const struct ini_place *place, const char *value)
{
        for (int i = 0; i < JOURNAL_FILE; i++) {
                if (strcmp(value, state_names[i]))
                        continue;
                entry->state = (enum journal_state)i;
                return 0;
        }
        return ini_error(place, "state = %.60s is invalid", value);
}

static int set_name(const struct parser *parser, struct journal_entry *entry, const struct ini_place *place,
                    const char *value)
{
        if (entry->state == JOURNAL_FILE ? !attribute_scratch_name(value) : !attribute_find(value))
                return ini_error(place, "%.100s is not a setting that joulecast changes", value);
        if (journal_find(&parser->journal, value))
                return ini_error(place, "%.100s occurs twice", value);
        return copy(place, "name", value, entry->name, sizeof(entry->name));
}

static int set_value(const struct journal_entry *entry, const struct ini_place *place, const char *key,
                     const char *value, char *buf)
{
        const struct attribute *attribute = attribute_find(entry->name);

        if (!attribute)
                return ini_error(place, "%s comes before the name", key);
        if (!attribute_restorable(attribute, value))
                return ini_error(place, "%s = %.60s is out of its range", key, value);
        return copy(place, key, value, buf, SETTING_VALUE_MAX);
}

static int set_entry(struct parser *parser, const struct ini_place *place, const char *key, const char *value)
{
        struct journal_entry *entry = &parser->journal.entries[parser->journal.n - 1];

        if (strcmp(key, "name") == 0)
                return set_name(parser, entry, place, value);
        if (entry->state == JOURNAL_FILE)
                return ini_error(place, "unknown key \"%s\" of a file", key);
        if (strcmp(key, "device") == 0 && !attribute_plain_text(value))
                return ini_error(place, "device = %.60s is invalid", value);
        if (strcmp(key, "device") == 0)
                return copy(place, key, value, entry->device, sizeof(entry->device));
        if (strcmp(key, "state") == 0)
                return set_state(entry, place, value);
        if (strcmp(key, "original") == 0)
                return set_value(entry, place, key, value, entry->original);
        if (strcmp(key, "written") == 0)
                return set_value(entry, place, key, value, entry->written);
        if (strcmp(key, "read") == 0)
                return set_value(entry, place, key, value, entry->read);
        return ini_error(place, "unknown key \"%s\" of a setting", key);
}

/* Checks that the last entry is complete when the next one begins. */
static int check_last(const struct parser *parser, const struct ini_place *place)
{
        const struct journal_entry *last;

        if (!parser->version)
                return ini_error(place, "[journal] with its version is missing");
        if (parser->journal.n == 0)
                return 0;
        last = &parser->journal.entries[parser->journal.n - 1];
        if (!last->name[0])
                return ini_error(place, "entry %zu has no name", parser->journal.n);
        if (last->state != JOURNAL_FILE && !last->original[0])
                return ini_error(place, "%s: the original value is missing", last->name);
        if (last->state == JOURNAL_OURS && !last->read[0])
                return ini_error(place, "%s: the value read is missing", last->name);
        return 0;
}

static int begin_section(struct parser *parser, const struct ini_place *place, const char *section)
{
        char setting[32], file[32];
        struct journal_entry entry = { 0 };
        int err = check_last(parser, place);

        if (err || strcmp(section, "end") == 0)
                return err;
        snprintf(setting, sizeof(setting), "setting %zu", parser->journal.n + 1);
        snprintf(file, sizeof(file), "file %zu", parser->journal.n + 1);
        if (parser->end || (strcmp(section, setting) && strcmp(section, file)))
                return ini_error(place, "[%s] does not belong here", section);
        entry.state = strcmp(section, file) == 0 ? JOURNAL_FILE : JOURNAL_UNTOUCHED;
        return journal_add(&parser->journal, &entry);
}

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key,
                  const char *value)
{
        struct parser *parser = data;
        int err = 0;

        if (!*section)
                return ini_error(place, "%s comes before any section", key);
        if (strcmp(section, "journal") == 0 && !parser->section[0])
                return set_head(parser, place, key, value);
        if (strcmp(section, parser->section)) {
                err = begin_section(parser, place, section);
                snprintf(parser->section, sizeof(parser->section), "%s", section);
        }
        if (err)
                return err;
        return strcmp(section, "end") ? set_entry(parser, place, key, value)
                                      : set_end(parser, place, key, value);
}

int journal_parse(const char *text, size_t length, const char *name, const struct log *log,
                  struct journal *ret)
{
        static const char end[] = "\n[end]\n";
        const char *tail = memmem(text, length, end, sizeof(end) - 1);
        struct ini_place place = { .name = name, .log = log };
        struct parser parser = { .checksum = tail ? fnv_add(FNV_BEGIN, text, (size_t)(tail + 1 - text)) : 0 };
        int err = ini_text_parse(text, length, name, log, on_key, &parser);

        if (!err && (!tail || !parser.sum))
                err = ini_error(&place, "its end is missing");
        if (err) {
                journal_clear(&parser.journal);
                return err == -ENOMEM ? err : -EBADMSG;
        }
        *ret = parser.journal;
        return 0;
}
