/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A scenario: which apps run on a virtual device, when, and what each of them
 * does. It is checked against the device whole before anything happens.
 */

#include "virtual.h"

struct scenario_segment {
        unsigned number;         /* of [segment N] */
        unsigned line;           /* its first */
        uint64_t start_ns;
        uint64_t end_ns;
        struct virtual_work work;
        double content;          /* share of white in its picture */
};

struct scenario {
        uint32_t brightness;     /* while any segment is in the foreground; the screen is off otherwise */
        bool wifi;               /* associated all the time */
        uint64_t end_ns;         /* of the last segment */
        struct scenario_segment *segments; /* ascending by start */
        size_t n_segments;
};

/**
 * scenario_parse() - text to scenario
 * @name:  what to call the text in the sentence about an error
 * @truth: the device it is for: its frequencies, cores and brightness
 * @log:   gets that one sentence, with file and line; may be NULL
 * @ret:   free it with scenario_free(); written only on success
 *
 * Return: 0; -EINVAL for a bad text; -ENOMEM.
 */
int scenario_parse(const char *text, size_t length, const char *name, const struct profile *truth,
                   const struct log *log, struct scenario **ret);

/*
 * Reads a shipped scenario by its name, or a file, and parses it.
 * 0; -ENOENT; -EINVAL; another negative errno.
 */
int scenario_load(const char *name_or_file, const struct profile *truth, const struct log *log,
                  struct scenario **ret);
void scenario_free(struct scenario *scenario);
void scenario_freep(struct scenario **scenario);

/*
 * Sets the device's screen, radio and work to what the scenario wants from @now_ns on.
 * 0 or a negative errno.
 */
int scenario_apply(const struct scenario *scenario, uint64_t now_ns, struct virtual_device *device);
/* The next moment after @now_ns at which a segment begins or ends; UINT64_MAX: none. */
uint64_t scenario_next_ns(const struct scenario *scenario, uint64_t now_ns);
