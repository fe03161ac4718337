/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "shared/upload.h"
#include "fuzz.h"
#include "model/component.h"

/* A line of an upload, parsed as a header and as a sample: accepted values are in range. */

static const char known[] = "{\"v\":1,\"client\":\"0123456789abcdef0123456789ABCDEF\",\"first\":7,"
                            "\"apps\":{\"1\":\"one\",\"a\\\"b\":\"two\",\"7\":\"seven\"}}";

static void check_header(const struct upload_header *header)
{
        fuzz_assert(strlen(header->client) == UPLOAD_CLIENT_DIGITS && header->first >= 0);
        fuzz_assert(header->n_apps <= UPLOAD_APPS_MAX);
        for (size_t i = 0; i < header->n_apps; i++)
                fuzz_assert(*header->apps[i].name && strlen(header->apps[i].name) < UPLOAD_NAME_MAX);
}

static void check_sample(const struct upload_sample *sample, const struct upload_header *header)
{
        fuzz_assert(sample->t2_ns > sample->t_ns);
        fuzz_assert(sample->t2_ns - sample->t_ns <= (sample->asleep ? UPLOAD_ASLEEP_MAX_NS : UPLOAD_SPAN_MAX_NS));
        fuzz_assert(!sample->asleep || sample->n_apps + sample->n_own + sample->n_parts == 0);
        fuzz_assert(sample->level_ppm >= sample->level2_ppm && sample->level2_ppm >= 0 && sample->level_ppm <= 1000000);
        for (size_t i = 0; i < sample->n_apps; i++)
                fuzz_assert(sample->apps[i] < header->n_apps);
        for (size_t i = 0; i < sample->n_own; i++)
                fuzz_assert(sample->own[i].app < header->n_apps && sample->own[i].mj >= 0);
        for (size_t i = 0; i < sample->n_parts; i++)
                fuzz_assert(sample->parts[i].app < header->n_apps && sample->parts[i].component < COMPONENT_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct upload_sample sample;
        static struct upload_header names;
        struct upload_header header = { .first = 0 };
        const char *why = NULL;

        if (!names.n_apps)
                fuzz_assert(upload_read_header(known, strlen(known), &names, &why) == 0);
        (void)upload_is_header((const char *)data, size);
        if (upload_read_header((const char *)data, size, &header, &why) == 0)
                check_header(&header);
        else
                fuzz_assert(why);
        upload_header_clear(&header);
        why = NULL;
        if (upload_read_sample((const char *)data, size, &names, &sample, &why) == 0)
                check_sample(&sample, &names);
        else
                fuzz_assert(why);
        return 0;
}
