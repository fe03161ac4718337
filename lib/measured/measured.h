/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A trace: a device's usage in spans of time, and the energy of each by a meter, power rails or its battery. As CSV
 * (fields may be quoted as in RFC 4180, the order of columns and of rows is free) it has a row for each owner in a
 * span, at least the base. It has the columns of a usage table (forecast/usage-table.h), of which only name and state
 * are required, and
 *
 *   span              an integer; rows with the same one belong together
 *   start_s           decimal seconds from any zero; as elapsed_s, equal in all rows of a span
 *   elapsed_s         above 0
 *   power_mw          mean power of the device, in the base's row, as all columns below
 *   energy_j          in place of power_mw
 *   percent           percentage of the battery at the span's end
 *   charge_uah        charge of the battery at the span's end
 *   voltage_mv, temperature_c   means of the span
 *   rail.WORD_j       energy of one power rail, by the word of a component, e.g. rail.cpu_j
 *   cycles.P, instructions.P, misses.P    counts of policy P for this owner, all over the same stretches
 *   screen_red, screen_green, screen_blue mean of channel^2.2, 0 to 1
 *
 * An empty cell is unknown, 0 is none. A quantity without a column was not counted: it stays in the base. Without
 * shared.* all busy time counts as shared, up to the span's length. Only apps use cpu.*, shared.*, bytes and the GPU,
 * so an empty cell of these in the base's row does not count as unknown; nor does one of screen.* in a row that is not
 * in the foreground. Spans may have gaps between them and must not overlap.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interval/interval.h"
#include "model/profile.h"
#include "model/usage.h"
#include "util/log.h"
#include "util/util.h"

#define MEASURED_RAILS_MAX 32
#define MEASURED_WORD_MAX 24

/* Source of a span's energy. */
enum measured_by {
        MEASURED_BY_NOTHING,
        MEASURED_BY_METER,   /* power_mw or energy_j */
        MEASURED_BY_CHARGE,  /* the change of charge_uah, times the voltage */
        MEASURED_BY_PERCENT, /* the change of percent */
};

#define MEASURED_CHANNELS 3 /* red, green, blue */

struct measured_owner {
        char name[APP_ID_MAX];
        bool base;
        enum app_state state;
        double active_s;     /* time alive in that state; foreground: time with the screen */
        struct usage usage;  /* the base's has time_ns */
};

struct measured_span {
        int64_t number;
        unsigned line;        /* line of the file that mentions it first */
        double start_s, elapsed_s;
        bool follows;         /* begins where the span before it ends */
        enum measured_by by;
        double energy_j;      /* NaN: unknown */
        double used_percent;  /* by level: percent of the full battery; else NaN */
        double late_s;        /* by level: its last step was seen at most this late */
        double percent, charge_uah, voltage_mv, temperature_c; /* NaN: unknown */
        uint32_t unknown;     /* USAGE_* that have columns in the trace, but are unknown in this span */
        double rail_j[MEASURED_RAILS_MAX]; /* energies of trace.rails; NaN: unknown */
        double light[MEASURED_CHANNELS];   /* screen_red, screen_green, screen_blue; NaN unknown */
        double picture;       /* factor by which screen times were multiplied (measured_show()) */
        struct measured_owner *owners; /* the base is the first */
        size_t n_owners;
};

struct measured_trace {
        const char *file;            /* its name in sentences about it; the caller's */
        const struct log *log;       /* the caller's */
        struct measured_span *spans; /* ascending in time */
        size_t n;
        uint32_t have;                /* USAGE_* that have a column */
        uint64_t amounts;             /* 1 << AMOUNT_* that have a column */
        /* Policies and frequencies with a column cpu.* or shared.* (ns) or idle.* (any_ns). */
        struct points frequencies;
        bool shared, idle;            /* there are such columns */
        bool counters, misses, colours; /* likewise */
        bool cellular;                /* cellular_bytes: not all are 0 */
        char rails[MEASURED_RAILS_MAX][MEASURED_WORD_MAX];
        size_t n_rails;
};

/**
 * measured_parse() - text to spans
 * @text: the whole file; need not end in NUL
 * @name: name of the file in sentences; it and @log must live as long as the trace
 * @ret:  free it with measured_free(); written only on success
 *
 * This sets only energies from power_mw and energy_j; measured_resolve() finds the others.
 * Return: 0; -EINVAL for a bad text; -ENOMEM.
 */
int measured_parse(const char *text, size_t length, const char *name, const struct log *log,
                   struct measured_trace **ret);
/* Likewise from a file, at most 64 MiB. */
int measured_load(const char *path, const struct log *log, struct measured_trace **ret);
void measured_free(struct measured_trace *trace);
DEFINE_CLEANUP(struct measured_trace, measured_free)

/* Energy of the full battery, from charge_uah and percent together; NaN: unknown. */
double measured_full_mwh(const struct measured_trace *trace);

/*
 * Finds the energies of spans that no meter measured, from steps of the charge or of the percentage. A span without a
 * step becomes a part of the next one. Warns of powers that are likely in another unit. @full_mwh: NaN unknown. 0;
 * -ENOMEM; -EOVERFLOW.
 */
int measured_resolve(struct measured_trace *trace, double full_mwh);

/*
 * Adds @more, which follows @span, to it: owners by name and state. @more is empty afterwards. 0; -ENOMEM;
 * -EOVERFLOW.
 */
int measured_join(struct measured_span *span, struct measured_span *more);
/*
 * Leaves out spans whose energy or a part of whose usage is unknown; @unknown gets the USAGE_* of that usage. Returns
 * the number of spans left out.
 */
size_t measured_keep_known(struct measured_trace *trace, uint32_t *unknown);
/* Joins successive spans that are shorter than 1/@most of all time. 0; an errno of measured_join(). */
int measured_shorten(struct measured_trace *trace, size_t most);
/* The highest level of the screen; 0: it was off, or its level is unknown. */
uint32_t measured_brightest(const struct usage *usage);
/*
 * If @profile is the file of a class, replaces it by the profile that the class gives for the trace's device, by its
 * policies and levels of brightness. 0; -ENOMEM.
 */
int measured_adapt(const struct measured_trace *trace, struct profile **profile);
/* Drops misses if the profile is known to have counted another event than @event (NULL: unknown). */
void measured_drop_misses(struct measured_trace *trace, const struct profile *profile, const char *event);
/* Sums the usage of all owners of a span; free it with usage_clear(). 0; -ENOMEM; -EOVERFLOW. */
int measured_sum(const struct measured_span *span, struct usage *ret);
/* Words for @have (USAGE_*), as "display, wifi"; at most @size bytes. */
const char *measured_words(uint32_t have, char *buf, size_t size);
/* The sentence about spans that measured_keep_known() left out; at most @size bytes. */
const char *measured_left_out(size_t n, uint32_t unknown, char *buf, size_t size);
/* Assigns CPU time without a policy to @policy(khz, data). 0; -ENOMEM; -EOVERFLOW. */
int measured_name_policies(struct measured_trace *trace, uint32_t (*policy)(uint32_t khz, const void *data),
                           const void *data);

/*
 * The picture multiplies a display's power by 1 + the sum over channels of part * (light - mean). The display's
 * coefficients are for the mean picture. A profile has these as x-red, x-red_mean and so on, in [display].
 */
struct measured_colours {
        double part[MEASURED_CHANNELS], mean[MEASURED_CHANNELS];
};

/* False: the profile has none. */
bool measured_colours_of(const struct profile *profile, struct measured_colours *ret);
int measured_set_colours(const struct measured_colours *colours, struct profile *profile);
/* Scales screen times by the power of the picture relative to the mean one. Undoes the scaling of an earlier call. */
void measured_show(struct measured_trace *trace, const struct measured_colours *colours);
