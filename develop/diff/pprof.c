/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reader of pprof's profile.proto (pprof-fields.h): a message of protocol buffers, in which samples refer to
 * locations, locations to functions and mappings, and all of them to strings by index. The message is read in
 * place: a generated reader takes ten times its size.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pprof-fields.h"
#include "read.h"
#include "util/util.h"
#include "util/words.h"

#define ENTRIES_MAX 4000000 /* strings, locations, functions, or frames of all locations */
#define UNNAMED "app" /* a program whose name no mapping tells */
#define TYPES_MAX 64
#define FIELD_MAX 15 /* greatest field number of a profile */
#define HEAD ((size_t)4096) /* so many bytes tell it from text, which has no bytes as small as the first fields */

struct span {
        const char *at, *end;
};

struct field {
        uint64_t number;
        unsigned type;
        uint64_t value;   /* the number of a TYPE_VARINT */
        struct span bytes; /* content of a TYPE_BYTES; a TYPE_VARINT as encoded, which reads as a list of one */
};

struct string {
        const char *at;
        uint32_t length;
};

/* A function or a mapping. */
struct entry {
        uint64_t id, name, file;
};

struct location {
        uint64_t id;
        uint32_t first, n; /* its frames from the leaf on: index of the first in @frames, and their number */
};

struct pprof {
        struct read *read;
        struct string *strings;
        size_t n_strings, strings_room;
        struct entry *functions, *mappings;
        size_t n_functions, functions_room, n_mappings, mappings_room;
        struct location *locations;
        size_t n_locations, locations_room;
        int32_t *frames;
        size_t n_frames, frames_room;
        struct string types[TYPES_MAX], units[TYPES_MAX];
        size_t n_types;
        uint64_t types_at[TYPES_MAX][2], default_type, period_type[2], period, duration;
        size_t value_at, count_at; /* indices of the sample types of the value and of the count; SIZE_MAX: none */
        double factor;
        double sample; /* value of one sample, where there is no count; 0: unknown */
        bool unnamed;  /* no mapping is a file, as in Go programs, which name only [vdso]: all is the program's */
        int32_t root;
        int32_t *stack; /* STACKS_DEPTH_MAX */
};

static void pprof_clear(struct pprof *pprof)
{
        free(pprof->strings);
        free(pprof->functions);
        free(pprof->mappings);
        free(pprof->locations);
        free(pprof->frames);
        free(pprof->stack);
}

static bool take_long_varint(struct span *span, uint64_t *ret)
{
        const char *at = span->at, *end = span->end;
        uint64_t value = 0;

        for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
                unsigned char byte = (unsigned char)*at++;

                value |= (uint64_t)(byte & 0x7f) << shift;
                if (byte < 0x80) {
                        span->at = at;
                        *ret = value;
                        return true;
                }
        }
        return false;
}

/*
 * Reads a varint, which has seven bits a byte, the lowest ones first. Most have one or two bytes, at random, so
 * there is no branch between these two.
 */
static inline bool take_varint(struct span *span, uint64_t *ret)
{
        const unsigned char *at = (const unsigned char *)span->at;
        unsigned more;

        if (span->end - span->at < 2 || (at[0] & at[1]) >= 0x80)
                return take_long_varint(span, ret);
        more = at[0] >> 7;
        *ret = (at[0] & 0x7fU) | (at[1] & -more) << 7;
        span->at += 1 + more;
        return true;
}

static bool take_field(struct span *span, struct field *ret)
{
        uint64_t tag, length;

        if (!take_varint(span, &tag))
                return false;
        *ret = (struct field){ .number = tag >> 3, .type = tag & 7 };
        switch (ret->type) {
        case TYPE_VARINT:
                ret->bytes.at = span->at;
                if (!take_varint(span, &ret->value))
                        return false;
                ret->bytes.end = span->at;
                return true;
        case TYPE_BYTES:
                if (!take_varint(span, &length) || length > (uint64_t)(span->end - span->at))
                        return false;
                ret->bytes = (struct span){ span->at, span->at + length };
                break;
        case TYPE_FIXED64:
        case TYPE_FIXED32:
                length = ret->type == TYPE_FIXED64 ? 8 : 4;
                if (length > (uint64_t)(span->end - span->at))
                        return false;
                break;
        default:
                return false;
        }
        span->at += length;
        return true;
}

/* Are there only fields of a profile up to the end of the data, and a byte that no text has? */
bool pprof_is(const char *data, size_t length)
{
        static const unsigned char types[FIELD_MAX + 1] = {
                0xff,        TYPE_BYTES,  TYPE_BYTES,  TYPE_BYTES,  TYPE_BYTES,  TYPE_BYTES,
                TYPE_BYTES,  TYPE_VARINT, TYPE_VARINT, TYPE_VARINT, TYPE_VARINT, TYPE_BYTES,
                TYPE_VARINT, 0xff,        TYPE_VARINT, TYPE_VARINT
        };
        struct span span = { data, data + length };
        size_t n = 0;
        bool binary = false;

        for (size_t i = 0; i < MIN(length, HEAD) && !binary; i++)
                binary = (unsigned char)data[i] < 0x20 && data[i] != '\n' && data[i] != '\r' && data[i] != '\t';
        while (binary && span.at < span.end) {
                uint64_t tag, size;

                if (!take_varint(&span, &tag) || tag >> 3 > FIELD_MAX)
                        return false;
                if ((tag & 7) != types[tag >> 3] && tag >> 3 != 13) /* comments, which Go packs only if they are many */
                        return false;
                if (!take_varint(&span, &size))
                        return n > 0;
                n++;
                if ((tag & 7) != TYPE_BYTES)
                        continue;
                if (size > (uint64_t)(span.end - span.at))
                        return size <= INT32_MAX && n > 1; /* it goes on after the data */
                span.at += size;
        }
        return n > 0;
}

static int damaged(const struct pprof *pprof)
{
        return read_damaged(pprof->read, 0, "it is a damaged profile of pprof");
}

static int add_entry(const struct pprof *pprof, struct span span, unsigned name, unsigned file,
                     struct entry **list, size_t *n, size_t *room)
{
        struct entry entry = { 0 };
        struct field field;

        while (span.at < span.end) {
                if (!take_field(&span, &field))
                        return damaged(pprof);
                if (field.type != TYPE_VARINT)
                        continue;
                if (field.number == 1)
                        entry.id = field.value;
                else if (field.number == name)
                        entry.name = field.value;
                else if (field.number == file)
                        entry.file = field.value;
        }
        if (*n >= ENTRIES_MAX)
                return read_damaged(pprof->read, 0, "it has more than 4 million functions, locations or strings");
        if (entry.id == 0)
                return damaged(pprof);
        if (util_grow(list, room, *n + 1, sizeof(**list)) < 0)
                return read_failed(pprof->read, -ENOMEM);
        (*list)[(*n)++] = entry;
        return 0;
}

static int add_string(struct pprof *pprof, struct span span)
{
        if (pprof->n_strings >= ENTRIES_MAX)
                return read_damaged(pprof->read, 0, "it has more than 4 million functions, locations or strings");
        if (util_grow(&pprof->strings, &pprof->strings_room, pprof->n_strings + 1, sizeof(*pprof->strings)) < 0)
                return read_failed(pprof->read, -ENOMEM);
        pprof->strings[pprof->n_strings++] = (struct string){ span.at, (uint32_t)(span.end - span.at) };
        return 0;
}

static int take_type(const struct pprof *pprof, struct span span, uint64_t type[2])
{
        struct field field;

        while (span.at < span.end) {
                if (!take_field(&span, &field))
                        return damaged(pprof);
                if (field.number == VALUE_TYPE || field.number == VALUE_UNIT)
                        type[field.number - VALUE_TYPE] = field.value;
        }
        return 0;
}

static int add_type(struct pprof *pprof, struct span span)
{
        if (pprof->n_types == TYPES_MAX)
                return damaged(pprof);
        return take_type(pprof, span, pprof->types_at[pprof->n_types++]);
}

/* Reads everything that locations and samples refer to; locations are read afterwards, and samples last. */
static int read_tables(struct pprof *pprof, struct span span)
{
        struct field field;
        int err = 0;

        while (err == 0 && span.at < span.end) {
                if (!take_field(&span, &field))
                        return damaged(pprof);
                if (field.number == PROFILE_DEFAULT_TYPE)
                        pprof->default_type = field.value;
                if (field.number == PROFILE_PERIOD)
                        pprof->period = field.value;
                if (field.number == PROFILE_DURATION)
                        pprof->duration = field.value;
                if (field.type != TYPE_BYTES)
                        continue;
                if (field.number == PROFILE_SAMPLE_TYPE)
                        err = add_type(pprof, field.bytes);
                else if (field.number == PROFILE_PERIOD_TYPE)
                        err = take_type(pprof, field.bytes, pprof->period_type);
                else if (field.number == PROFILE_STRING)
                        err = add_string(pprof, field.bytes);
                else if (field.number == PROFILE_FUNCTION)
                        err = add_entry(pprof, field.bytes, FUNCTION_NAME, FUNCTION_FILE, &pprof->functions,
                                        &pprof->n_functions, &pprof->functions_room);
                else if (field.number == PROFILE_MAPPING)
                        err = add_entry(pprof, field.bytes, 0, MAPPING_FILE, &pprof->mappings,
                                        &pprof->n_mappings, &pprof->mappings_room);
        }
        return err;
}

static int compare_ids(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* Sorts by id, which is the first member. False: an id occurs twice. */
static bool sort_by_id(void *list, size_t n, size_t size)
{
        if (n > 1)
                qsort(list, n, size, compare_ids);
        for (size_t i = 1; i < n; i++)
                if (compare_ids((char *)list + (i - 1) * size, (char *)list + i * size) == 0)
                        return false;
        return true;
}

/* Most writers number from 1 on. This is so if the last id is @n: ids are sorted and differ, and none is 0. */
static const void *find_id(uint64_t id, const void *list, size_t n, size_t size)
{
        if (n == 0)
                return NULL;
        if (*(const uint64_t *)(const void *)((const char *)list + (n - 1) * size) == n)
                return id - 1 < n ? (const char *)list + (id - 1) * size : NULL;
        return bsearch(&id, list, n, size, compare_ids);
}

static bool string_at(const struct pprof *pprof, uint64_t index, struct string *ret)
{
        if (index >= pprof->n_strings)
                return false;
        *ret = pprof->strings[index];
        return true;
}

static int add_frame(struct pprof *pprof, uint64_t function_id, const struct entry *mapping)
{
        const struct entry *function = NULL;
        struct string name = { 0 }, file = { 0 };
        int32_t label;

        if (function_id)
                function = find_id(function_id, pprof->functions, pprof->n_functions, sizeof(*function));
        if ((function_id && !function) || (function && !string_at(pprof, function->name, &name)) ||
            (mapping && !string_at(pprof, mapping->file, &file)) ||
            (function && file.length == 0 && !string_at(pprof, function->file, &file)))
                return read_damaged(pprof->read, 0, "an index points to nothing");
        if (pprof->unnamed)
                file = (struct string){ UNNAMED, strlen(UNNAMED) };
        label = read_label(pprof->read, name.at, name.length, file.at, file.length);
        if (label < 0)
                return read_failed(pprof->read, label);
        if (pprof->n_frames >= ENTRIES_MAX)
                return read_damaged(pprof->read, 0, "it has more than 4 million functions, locations or strings");
        if (util_grow(&pprof->frames, &pprof->frames_room, pprof->n_frames + 1, sizeof(*pprof->frames)) < 0)
                return read_failed(pprof->read, -ENOMEM);
        pprof->frames[pprof->n_frames++] = label;
        return 0;
}

static int add_line(struct pprof *pprof, struct span span, const struct entry *mapping)
{
        struct field field;
        uint64_t function = 0;

        while (span.at < span.end) {
                if (!take_field(&span, &field))
                        return damaged(pprof);
                if (field.number == LINE_FUNCTION)
                        function = field.value;
        }
        return add_frame(pprof, function, mapping);
}

/* Adds a location. Its lines are functions, each inlined into the one after it. */
static int add_location(struct pprof *pprof, struct span span)
{
        struct location location = { .first = (uint32_t)pprof->n_frames };
        const struct entry *mapping = NULL;
        uint64_t mapping_id = 0;
        struct span rest = span;
        struct field field;
        int err = 0;

        while (rest.at < rest.end) {
                if (!take_field(&rest, &field))
                        return damaged(pprof);
                if (field.number == LOCATION_ID)
                        location.id = field.value;
                else if (field.number == LOCATION_MAPPING)
                        mapping_id = field.value;
        }
        if (mapping_id)
                mapping = find_id(mapping_id, pprof->mappings, pprof->n_mappings, sizeof(*mapping));
        if (location.id == 0 || (mapping_id && !mapping))
                return read_damaged(pprof->read, 0, "an index points to nothing");
        for (rest = span; err == 0 && rest.at < rest.end && take_field(&rest, &field);)
                if (field.number == LOCATION_LINE && field.type == TYPE_BYTES)
                        err = add_line(pprof, field.bytes, mapping);
        if (err == 0 && pprof->n_frames == location.first)
                err = add_frame(pprof, 0, mapping);
        if (err < 0)
                return err;
        location.n = (uint32_t)pprof->n_frames - location.first;
        if (pprof->n_locations >= ENTRIES_MAX)
                return read_damaged(pprof->read, 0, "it has more than 4 million functions, locations or strings");
        if (util_grow(&pprof->locations, &pprof->locations_room, pprof->n_locations + 1, sizeof(*pprof->locations)) < 0)
                return read_failed(pprof->read, -ENOMEM);
        pprof->locations[pprof->n_locations++] = location;
        return 0;
}

struct sample {
        size_t n, n_values; /* number of frames on the stack, and of @values */
        int64_t values[TYPES_MAX];
};

static int add_to_stack(const struct pprof *pprof, struct sample *sample, struct span ids)
{
        uint64_t id;

        while (ids.at < ids.end) {
                const struct location *location;

                if (!take_varint(&ids, &id))
                        return damaged(pprof);
                location = find_id(id, pprof->locations, pprof->n_locations, sizeof(*location));
                if (!location)
                        return read_damaged(pprof->read, 0, "an index points to nothing");
                if (sample->n + location->n >= STACKS_DEPTH_MAX)
                        return read_damaged(pprof->read, 0, "a stack has more than 4096 frames");
                for (uint32_t i = 0; i < location->n; i++)
                        pprof->stack[sample->n++] = pprof->frames[location->first + i];
        }
        return 0;
}

static int add_values(const struct pprof *pprof, struct sample *sample, struct span values)
{
        uint64_t value;

        while (values.at < values.end) {
                if (sample->n_values == TYPES_MAX || !take_varint(&values, &value))
                        return damaged(pprof);
                sample->values[sample->n_values++] = (int64_t)value;
        }
        return 0;
}

/* Adds a sample. Its lists are packed, or have a field for each number. */
static int add_sample(struct pprof *pprof, struct span span)
{
        struct sample sample; /* its values are many, and not cleared for each sample */
        struct field field;
        double value, count;
        int err = 0;

        sample.n = sample.n_values = 0;
        while (err == 0 && span.at < span.end) {
                if (!take_field(&span, &field) || (field.number <= SAMPLE_VALUE && !field.bytes.at))
                        return damaged(pprof);
                if (field.number == SAMPLE_LOCATION)
                        err = add_to_stack(pprof, &sample, field.bytes);
                else if (field.number == SAMPLE_VALUE)
                        err = add_values(pprof, &sample, field.bytes);
        }
        if (err < 0)
                return err;
        if (sample.n_values != pprof->n_types)
                return read_damaged(pprof->read, 0, "a sample does not have one value for each type of values");
        value = (double)sample.values[pprof->value_at] * pprof->factor;
        count = pprof->count_at != SIZE_MAX ? (double)sample.values[pprof->count_at]
                : pprof->sample > 0         ? value / pprof->sample
                                            : 0;
        if (value < 0 || count < 0)
                return read_damaged(pprof->read, 0, "it has values below 0, as a difference of two profiles; "
                                                    "give these two");
        return read_stack(pprof->read, pprof->root, pprof->stack, sample.n, value, count);
}

static bool is(struct string string, const char *text)
{
        return string.length == strlen(text) && memcmp(string.at, text, string.length) == 0;
}

/* Chooses CPU time if the file has that; else the file's default type, or the last one, as pprof does. */
static int choose_types(struct pprof *pprof)
{
        static const char *const others[] = { "delay", "goroutine", "threadcreate" };
        struct string chosen, period;

        pprof->count_at = pprof->value_at = SIZE_MAX;
        if (pprof->n_types == 0)
                return damaged(pprof);
        for (size_t i = 0; i < pprof->n_types; i++) {
                if (!string_at(pprof, pprof->types_at[i][0], &pprof->types[i]) ||
                    !string_at(pprof, pprof->types_at[i][1], &pprof->units[i]))
                        return read_damaged(pprof->read, 0, "an index points to nothing");
                if (pprof->value_at == SIZE_MAX && is(pprof->types[i], "cpu") && is(pprof->units[i], "nanoseconds"))
                        pprof->value_at = i;
                if (is(pprof->types[i], "samples") && is(pprof->units[i], "count"))
                        pprof->count_at = i;
        }
        for (size_t i = 0; pprof->value_at == SIZE_MAX && pprof->default_type && i < pprof->n_types; i++)
                if (pprof->types_at[i][0] == pprof->default_type)
                        pprof->value_at = i;
        if (pprof->value_at == SIZE_MAX)
                pprof->value_at = pprof->n_types - 1;
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (is(pprof->types[pprof->value_at], others[i]))
                        return read_damaged(pprof->read, 0,
                                            "it is a profile of locks or threads, which has no CPU time");
        chosen = pprof->units[pprof->value_at];
        pprof->factor = read_unit(pprof->read, chosen.at, chosen.length);
        if (string_at(pprof, pprof->period_type[1], &period) && period.length == chosen.length &&
            memcmp(period.at, chosen.at, chosen.length) == 0 &&
            strcmp(pprof->read->unit ? pprof->read->unit : "", "samples") != 0)
                pprof->sample = (double)pprof->period * pprof->factor;
        return pprof->factor > 0 ? 0 : read_damaged(pprof->read, 0, "its values are neither time, energy, "
                                                                    "bytes nor a count of samples");
}

static bool is_library(const struct pprof *pprof, const struct entry *mapping)
{
        struct string file;

        return !string_at(pprof, mapping->file, &file) || file.length == 0 || *file.at == '[' ||
               memmem(file.at, file.length, ".so", 3) || read_is_jit(file.at, file.length);
}

/* The first mapping is the program's; the first that is no library, if profilers list them as they meet them. */
static int name_root(struct pprof *pprof, const uint64_t first)
{
        const struct entry *mapping = find_id(first, pprof->mappings, pprof->n_mappings, sizeof(*mapping));
        const char *name;
        struct string file;
        int err = 0;

        for (size_t i = 0; i < pprof->n_mappings && is_library(pprof, mapping); i++)
                if (!is_library(pprof, &pprof->mappings[i]))
                        mapping = &pprof->mappings[i];
        pprof->unnamed = pprof->n_mappings > 0;
        for (size_t i = 0; i < pprof->n_mappings; i++)
                pprof->unnamed &=
                        string_at(pprof, pprof->mappings[i].file, &file) && file.length > 0 && *file.at == '[';
        if (pprof->unnamed)
                err = read_program(pprof->read, UNNAMED, strlen(UNNAMED));
        else if (mapping && string_at(pprof, mapping->file, &file))
                err = read_program(pprof->read, file.at, file.length);
        if (err < 0)
                return err;
        name = pprof->read->stacks->program ? pprof->read->stacks->program : "app";
        pprof->root = read_label(pprof->read, name, strlen(name), NULL, 0);
        return pprof->root < 0 ? read_failed(pprof->read, pprof->root) : 0;
}

static int each(struct pprof *pprof, struct span span, unsigned number, int (*add)(struct pprof *, struct span))
{
        struct field field;
        int err = 0;

        while (err == 0 && span.at < span.end && take_field(&span, &field))
                if (field.number == number && field.type == TYPE_BYTES)
                        err = add(pprof, field.bytes);
        return err;
}

int pprof_parse(struct read *read, const char *data, size_t length)
{
        _cleanup_(pprof_clear) struct pprof pprof = { .read = read };
        struct span span = { data, data + length };
        uint64_t first;
        int err;

        pprof.stack = calloc(STACKS_DEPTH_MAX, sizeof(*pprof.stack));
        if (!pprof.stack)
                return read_failed(read, -ENOMEM);
        err = read_tables(&pprof, span);
        if (err < 0)
                return err;
        read->seconds += (double)pprof.duration * 1e-9;
        first = pprof.n_mappings ? pprof.mappings[0].id : 0;
        if (!sort_by_id(pprof.functions, pprof.n_functions, sizeof(*pprof.functions)) ||
            !sort_by_id(pprof.mappings, pprof.n_mappings, sizeof(*pprof.mappings)))
                return read_damaged(read, 0, "two functions, mappings or locations have the same number");
        err = choose_types(&pprof);
        if (err == 0)
                err = name_root(&pprof, first);
        if (err == 0)
                err = each(&pprof, span, PROFILE_LOCATION, add_location);
        if (err == 0 && !sort_by_id(pprof.locations, pprof.n_locations, sizeof(*pprof.locations)))
                err = read_damaged(read, 0, "two functions, mappings or locations have the same number");
        return err < 0 ? err : each(&pprof, span, PROFILE_SAMPLE, add_sample);
}
