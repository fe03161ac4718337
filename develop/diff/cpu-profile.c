/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The binary profile of gperftools (CPUPROFILE=):
 * gperftools.github.io/gperftools/cpuprofile-fileformat.html. It has words of the machine that wrote it: 0, 3,
 * 0, microseconds a sample, 0; then stacks as a count of samples, a depth, and addresses from the leaf on; 0,
 * 1, 0 at the end; then the text of /proc/self/maps. It has no names: all functions that are called in a
 * library are one task.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "util/util.h"

#define ENTRIES_MAX 4000000

struct mapping {
        uint64_t start, end;
        const char *path;
        size_t length;
        int32_t label; /* -1: not made yet */
};

struct cpu_profile {
        struct read *read;
        size_t word; /* bytes of a word: 4 or 8 */
        bool swapped;
        struct mapping *mappings;
        size_t n_mappings, mappings_room;
        struct mapping unmapped, *last; /* mapping of addresses in no file; mapping of the last address */
        const char *program;
        size_t program_length;
        int32_t *stack; /* STACKS_DEPTH_MAX */
        size_t n;
};

static void cpu_profile_clear(struct cpu_profile *profile)
{
        free(profile->mappings);
        free(profile->stack);
}

static uint64_t word_at(const struct cpu_profile *profile, const char *at)
{
        uint64_t word = 0;
        uint32_t half;

        if (profile->word == 4) {
                memcpy(&half, at, 4);
                return profile->swapped ? __builtin_bswap32(half) : half;
        }
        memcpy(&word, at, 8);
        return profile->swapped ? __builtin_bswap64(word) : word;
}

/* The header tells the size and order of its words. */
static bool find_header(struct cpu_profile *profile, const char *data, size_t length)
{
        for (int i = 0; i < 4; i++) {
                profile->word = i < 2 ? 8 : 4;
                profile->swapped = i % 2;
                if (length >= 5 * profile->word && word_at(profile, data) == 0 &&
                    word_at(profile, data + profile->word) == 3 &&
                    word_at(profile, data + 2 * profile->word) == 0 &&
                    word_at(profile, data + 4 * profile->word) == 0)
                        return true;
        }
        return false;
}

bool cpu_profile_is(const char *data, size_t length)
{
        struct cpu_profile profile = { 0 };

        return find_header(&profile, data, length);
}

static int damaged(const struct cpu_profile *profile)
{
        return read_damaged(profile->read, 0, "it is a damaged profile of gperftools");
}

static const char *take_hex(const char *at, const char *end, uint64_t *ret)
{
        static const char digits[] = "0123456789abcdef";
        const char *digit, *from = at;

        *ret = 0;
        for (; at < end && at - from < 16 && *at && (digit = strchr(digits, *at)); at++)
                *ret = *ret * 16 + (uint64_t)(digit - digits);
        return at > from ? at : NULL;
}

/* Reads "start-end perms offset device inode   /path"; skips other lines. */
static int add_mapping(struct cpu_profile *profile, const char *line, const char *end)
{
        struct mapping mapping = { .label = -1 };
        const char *at = take_hex(line, end, &mapping.start);

        at = at && at < end && *at == '-' ? take_hex(at + 1, end, &mapping.end) : NULL;
        for (int i = 0; at && i < 4; i++) {
                while (at < end && *at == ' ')
                        at++;
                while (at < end && *at != ' ')
                        at++;
        }
        while (at && at < end && *at == ' ')
                at++;
        if (!at || at == end)
                return 0;
        mapping.path = at;
        mapping.length = (size_t)(end - at);
        if (profile->n_mappings > 0 && mapping.start < profile->mappings[profile->n_mappings - 1].end)
                return 0; /* the kernel prints them in order */
        if (profile->n_mappings >= ENTRIES_MAX)
                return damaged(profile);
        if (util_grow(&profile->mappings, &profile->mappings_room, profile->n_mappings + 1, sizeof(mapping)) < 0)
                return read_failed(profile->read, -ENOMEM);
        profile->mappings[profile->n_mappings++] = mapping;
        if (profile->program_length == 0) {
                profile->program = mapping.path;
                profile->program_length = mapping.length;
        }
        return 0;
}

static int read_mappings(struct cpu_profile *profile, const char *at, const char *end)
{
        int err = 0;

        while (err == 0 && at < end) {
                const char *line_end = memchr(at, '\n', (size_t)(end - at));

                if (!line_end)
                        line_end = end;
                err = add_mapping(profile, at, line_end);
                at = line_end + 1;
        }
        return err;
}

static int compare_mapping(const void *key, const void *element)
{
        const uint64_t *address = key;
        const struct mapping *mapping = element;

        return *address < mapping->start ? -1 : *address >= mapping->end;
}

/* The mapping of an address, which is mostly the same as that of the address before. */
static struct mapping *find_mapping(struct cpu_profile *profile, uint64_t address)
{
        struct mapping *mapping = NULL;

        if (compare_mapping(&address, profile->last) == 0)
                return profile->last;
        if (profile->n_mappings)
                mapping = bsearch(&address, profile->mappings, profile->n_mappings, sizeof(*mapping), compare_mapping);
        profile->last = mapping ? mapping : &profile->unmapped;
        return profile->last;
}

static int add_address(struct cpu_profile *profile, uint64_t address)
{
        struct mapping *mapping = find_mapping(profile, address);

        if (profile->n >= STACKS_DEPTH_MAX - 1)
                return read_damaged(profile->read, 0, "a stack has more than 4096 frames");
        if (mapping->label < 0)
                mapping->label = read_label(profile->read, "", 0, mapping->path, mapping->length);
        if (mapping->label < 0)
                return read_failed(profile->read, mapping->label);
        profile->stack[profile->n++] = mapping->label;
        return 0;
}

/* Adds a stack of @depth words. The address of a caller is the one after the call, which may be in the next file. */
static int add_stack(struct cpu_profile *profile, const char *at, uint64_t depth, double samples,
                     double period, int32_t root)
{
        int err = 0;

        profile->n = 0;
        for (uint64_t i = 0; err == 0 && i < depth; i++)
                err = add_address(profile, word_at(profile, at + i * profile->word) - (i > 0));
        return err < 0 ? err : read_stack(profile->read, root, profile->stack, profile->n, samples * period, samples);
}

/*
 * Reads the stacks, and adds them below the label @root; a negative @root: only finds their end. The end of the stacks;
 * NULL: they do not end, or *err is set after its sentence.
 */
static const char *each_stack(struct cpu_profile *profile, const char *at, const char *end, int32_t root,
                              double period, int *err)
{
        const size_t word = profile->word;

        while ((size_t)(end - at) >= 3 * word) {
                uint64_t samples = word_at(profile, at), depth = word_at(profile, at + word);

                if (depth == 0 || depth > (uint64_t)(end - at) / word - 2)
                        return NULL;
                at += 2 * word;
                if (samples == 0 && depth == 1 && word_at(profile, at) == 0)
                        return at + word;
                if (root >= 0)
                        *err = add_stack(profile, at, depth, (double)samples, period, root);
                if (*err < 0)
                        return NULL;
                at += depth * word;
        }
        return NULL;
}

int cpu_profile_parse(struct read *read, const char *data, size_t length)
{
        _cleanup_(cpu_profile_clear) struct cpu_profile profile = { .read = read };
        const char *at = data, *end = data + length, *maps, *name;
        double period;
        int32_t root;
        int err = 0;

        profile.unmapped = (struct mapping){ .path = "", .label = -1 };
        profile.last = &profile.unmapped;
        profile.stack = calloc(STACKS_DEPTH_MAX, sizeof(*profile.stack));
        if (!profile.stack)
                return read_failed(read, -ENOMEM);
        if (!find_header(&profile, data, length))
                return damaged(&profile);
        period = (double)word_at(&profile, at + 3 * profile.word) * 1e3;
        at += 5 * profile.word;
        maps = each_stack(&profile, at, end, -1, 0, &err);
        err = maps ? read_mappings(&profile, maps, end) : damaged(&profile);
        if (err == 0)
                err = read_program(read, profile.program, profile.program_length);
        if (err < 0)
                return err;
        name = read->stacks->program ? read->stacks->program : "app";
        root = read_label(read, name, strlen(name), "", 0);
        if (root < 0)
                return read_failed(read, root);
        read->unit = "ns";
        log_warning(read->log, "%s has addresses without names, so each file of code is one function; go "
                    "tool pprof -proto PROGRAM PROFILE names those that it knows", read->name);
        (void)each_stack(&profile, at, end, root, period > 0 ? period : 1, &err);
        return err;
}
