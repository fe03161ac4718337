/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A scenario: when each app runs on a virtual device, and with which load. All of it is checked against the
 * device before anything runs.
 */

#include "util/util.h"
#include "virtual.h"

struct scenario_segment {
        unsigned number;         /* N in [segment N] */
        unsigned line;           /* its first line */
        uint64_t start_ns;
        uint64_t end_ns;
        struct virtual_work work;
        double content;          /* share of white in its picture */
};

struct scenario {
        uint32_t brightness;     /* while any segment is in the foreground; otherwise the screen is off */
        bool wifi;               /* associated all the time */
        uint64_t end_ns;         /* end of the last segment */
        struct scenario_segment *segments; /* ascending by start */
        size_t n_segments;
};

/**
 * scenario_parse() - parse a scenario
 * @name:  name of the text for error messages
 * @truth: the device it is for: its frequencies, cores and brightness
 * @log:   gets one sentence with file and line on an error; may be NULL
 * @ret:   free it with scenario_free(); written only on success
 *
 * Return: 0; -EINVAL for a bad text; -ENOMEM.
 */
int scenario_parse(const char *text, size_t length, const char *name, const struct profile *truth,
                   const struct log *log, struct scenario **ret);

/*
 * Reads and parses a shipped scenario, given by its name, or a file. Returns 0; -ENOENT; -EINVAL; another
 * negative errno.
 */
int scenario_load(const char *name_or_file, const struct profile *truth, const struct log *log,
                  struct scenario **ret);
void scenario_free(struct scenario *scenario);
DEFINE_CLEANUP(struct scenario, scenario_free)

/* Sets the device's screen, radio and work as in the scenario at @now_ns. Returns 0 or a negative errno. */
int scenario_apply(const struct scenario *scenario, uint64_t now_ns, struct virtual_device *device);
/* Next time after @now_ns at which a segment begins or ends; UINT64_MAX: none. */
uint64_t scenario_next_ns(const struct scenario *scenario, uint64_t now_ns);
