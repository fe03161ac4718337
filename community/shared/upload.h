/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An upload: lines of JSON. The first is a header; each that follows is a sample, until there is another header.
 * community/METHOD.md describes both.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPLOAD_CLIENT_DIGITS 32
#define UPLOAD_NAME_MAX 256      /* bytes of an app's name, with the NUL */
#define UPLOAD_TEXT_MAX 128      /* longest os and model */
#define UPLOAD_APPS_MAX 16384    /* most apps in a header */
#define UPLOAD_SAMPLE_APPS 1024  /* most apps in a sample */
#define UPLOAD_SAMPLE_PARTS 4096 /* most entries of energy by component in a sample */
#define UPLOAD_LINE_MAX 2000000  /* bytes */
#define UPLOAD_SPAN_MAX_NS 86400000000000 /* a longer span has a jump of the clock in it */
#define UPLOAD_ASLEEP_MAX_NS (31 * UPLOAD_SPAN_MAX_NS) /* likewise, of a span in which the device was suspended */

struct upload_app {
        char *id, *name;
        char *version;  /* NULL: unknown */
        int64_t number; /* the receiver's own; 0: none yet */
};

struct upload_header {
        char client[UPLOAD_CLIENT_DIGITS + 1]; /* lower case */
        int64_t first;                         /* sequence number of the first line after the header */
        char os[UPLOAD_TEXT_MAX], model[UPLOAD_TEXT_MAX]; /* "": unknown */
        char *features;                        /* a JSON object; NULL: none */
        struct upload_app *apps;               /* by id, ascending */
        size_t n_apps, capacity;
        bool forget;                           /* the client asks for that, and sends nothing */
};

/* Energy of an app by its device's own model. */
struct upload_own {
        uint32_t app; /* index in header->apps */
        int64_t mj;
};

/* Energy of one component of an app. */
struct upload_part {
        uint32_t app;
        int component; /* enum component */
        int64_t mj;
};

/* Time is the client's clock; only the difference is used for rates. */
struct upload_sample {
        int64_t t_ns, t2_ns;
        int32_t level_ppm, level2_ppm;
        uint32_t apps[UPLOAD_SAMPLE_APPS]; /* indices in header->apps */
        struct upload_own own[UPLOAD_SAMPLE_APPS];
        struct upload_part parts[UPLOAD_SAMPLE_PARTS];
        size_t n_apps, n_own, n_parts;
        bool asleep;                       /* the device was suspended from t to t2, and has no apps */
};

void upload_header_clear(struct upload_header *header);

/* Is this line a header, or an attempt at one? */
bool upload_is_header(const char *line, size_t length);

/**
 * upload_read_header() - read a header
 * @ret: gets it, to be cleared with upload_header_clear(); written only on success
 * @why: gets what is wrong, as the end of a sentence
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int upload_read_header(const char *line, size_t length, struct upload_header *ret, const char **why);

/* Likewise for a sample; @ret is undefined after -EINVAL. */
int upload_read_sample(const char *line, size_t length, const struct upload_header *header, struct upload_sample *ret,
                       const char **why);
