/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A profile of pprof with three values for each stack: A's, B's, and the difference, which may be negative.
 * Its mappings are the libraries; the first mapping is the program.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "gzip/gzip.h"
#include "joined.h"
#include "pprof-fields.h"
#include "util/util.h"

struct bytes {
        char *data;
        size_t n, capacity;
        bool failed; /* there was no memory for all of it */
};

struct writer {
        const struct joined *joined;
        struct bytes out;
        struct bytes part, list; /* a message in @out, and a list or message in that, while they are built */
        struct labels strings, libraries; /* numbers of strings are their indices, of libraries their mappings - 1 */
        bool failed;
};

static void writer_clear(struct writer *writer)
{
        free(writer->out.data);
        free(writer->part.data);
        free(writer->list.data);
        labels_clear(&writer->strings);
        labels_clear(&writer->libraries);
}

static void put(struct bytes *bytes, const char *data, size_t n)
{
        if (bytes->failed || util_grow(&bytes->data, &bytes->capacity, bytes->n + n, 1) < 0) {
                bytes->failed = true;
                return;
        }
        memcpy(bytes->data + bytes->n, data, n);
        bytes->n += n;
}

static void put_varint(struct bytes *bytes, uint64_t value)
{
        char text[10];
        size_t n = 0;

        for (; value > 0x7f; value >>= 7)
                text[n++] = (char)(value | 0x80);
        text[n++] = (char)value;
        put(bytes, text, n);
}

static void put_number(struct bytes *bytes, unsigned field, uint64_t value)
{
        put_varint(bytes, field << 3 | TYPE_VARINT);
        put_varint(bytes, value);
}

static void put_text(struct bytes *bytes, unsigned field, const char *text, size_t n)
{
        put_varint(bytes, field << 3 | TYPE_BYTES);
        put_varint(bytes, n);
        if (n > 0)
                put(bytes, text, n);
}

/* Writes the content of @from as a field, and empties @from. */
static void put_message(struct bytes *bytes, unsigned field, struct bytes *from)
{
        put_text(bytes, field, from->data, from->n);
        bytes->failed |= from->failed;
        from->n = 0;
}

static uint64_t string(struct writer *writer, const char *text)
{
        int32_t number = labels_add(&writer->strings, text, strlen(text));

        writer->failed |= number < 0;
        return number < 0 ? 0 : (uint64_t)number;
}

/* The name that pprof knows a unit by, so that it picks a scale; other units keep their names. */
static const char *unit_of(const char *unit)
{
        static const char *const names[][2] = { { "samples", "count" }, { "calls", "count" }, { "ns", "nanoseconds" },
                                                { "nJ", "nanojoules" } };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(names[i][0], unit) == 0)
                        return names[i][1];
        return unit;
}

static void write_types(struct writer *writer)
{
        static const char *const types[] = { "a", "b", "difference" };
        const char *unit = unit_of(writer->joined->comparison->a->unit);

        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                put_number(&writer->part, VALUE_TYPE, string(writer, types[i]));
                put_number(&writer->part, VALUE_UNIT, string(writer, unit));
                put_message(&writer->out, PROFILE_SAMPLE_TYPE, &writer->part);
        }
        put_number(&writer->out, PROFILE_DEFAULT_TYPE, string(writer, types[0]));
}

/* The id of a location is its label + 1. */
static int write_samples(struct writer *writer)
{
        const struct joined *joined = writer->joined;

        for (size_t i = 0; i < joined->trie.n; i++) {
                int32_t leaf = joined->order[i];
                int64_t a = joined->a[leaf], b = joined->b[leaf];

                if (a == 0 && b == 0)
                        continue;
                for (int32_t node = leaf; node > 0; node = joined->trie.parent[node])
                        put_varint(&writer->list, (uint64_t)joined->trie.label[node] + 1);
                put_message(&writer->part, SAMPLE_LOCATION, &writer->list);
                put_varint(&writer->list, (uint64_t)a);
                put_varint(&writer->list, (uint64_t)b);
                put_varint(&writer->list, (uint64_t)(a - b));
                put_message(&writer->part, SAMPLE_VALUE, &writer->list);
                put_message(&writer->out, PROFILE_SAMPLE, &writer->part);
                if (writer->out.n > DIFF_FILE_MAX)
                        return -E2BIG;
        }
        return 0;
}

/* The id of a library's mapping, which is written at its first use; 0: no library. */
static uint64_t mapping(struct writer *writer, const char *library)
{
        size_t known = writer->libraries.n;
        int32_t number;

        if (!*library)
                return 0;
        number = labels_add(&writer->libraries, library, strlen(library));
        writer->failed |= number < 0;
        if (number >= 0 && writer->libraries.n > known) {
                put_number(&writer->part, MAPPING_ID, (uint64_t)number + 1);
                put_number(&writer->part, MAPPING_FILE, string(writer, library));
                put_number(&writer->part, MAPPING_HAS_FUNCTIONS, true);
                put_message(&writer->out, PROFILE_MAPPING, &writer->part);
        }
        return number < 0 ? 0 : (uint64_t)number + 1;
}

static void write_frame(struct writer *writer, int32_t label)
{
        struct joined_frame frame;
        uint64_t id = (uint64_t)label + 1, library;

        joined_spell(writer->joined, label, &frame);
        library = mapping(writer, frame.dso);
        put_number(&writer->part, FUNCTION_ID, id);
        put_number(&writer->part, FUNCTION_NAME, string(writer, frame.name));
        put_message(&writer->out, PROFILE_FUNCTION, &writer->part);
        put_number(&writer->list, LINE_FUNCTION, id);
        put_number(&writer->part, LOCATION_ID, id);
        put_number(&writer->part, LOCATION_MAPPING, library);
        put_message(&writer->part, LOCATION_LINE, &writer->list);
        put_message(&writer->out, PROFILE_LOCATION, &writer->part);
}

static int write_frames(struct writer *writer)
{
        const struct joined *joined = writer->joined;
        _cleanup_free_ char *done = calloc(joined->comparison->labels->n, 1);

        if (!done)
                return -ENOMEM;
        mapping(writer, joined->program);
        for (size_t i = 1; i < joined->trie.n; i++) {
                int32_t label = joined->trie.label[joined->order[i]];

                if (!done[label])
                        write_frame(writer, label);
                done[label] = 1;
        }
        return 0;
}

static int write_profile(struct writer *writer)
{
        int err;

        string(writer, ""); /* string 0 must be empty */
        write_types(writer);
        err = write_samples(writer);
        if (err == 0)
                err = write_frames(writer);
        for (size_t i = 0; i < writer->strings.n; i++) {
                const char *text = labels_text(&writer->strings, (int32_t)i);

                put_text(&writer->out, PROFILE_STRING, text, strlen(text));
        }
        if (err == 0 && writer->out.n > DIFF_FILE_MAX)
                err = -E2BIG;
        return err == 0 && (writer->failed || writer->out.failed) ? -ENOMEM : err;
}

int answer_pprof(const struct comparison *comparison, char **ret, size_t *length)
{
        _cleanup_(joined_clear) struct joined joined = { 0 };
        _cleanup_(writer_clear) struct writer writer = { .joined = &joined };
        int err = joined_make(comparison, &joined);

        if (err == 0)
                err = write_profile(&writer);
        return err < 0 ? err : gzip_pack(writer.out.data, writer.out.n, ret, length);
}
