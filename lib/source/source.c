/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "source.h"

#include <errno.h>

#include "util/util.h"

int sources_add(struct sources *sources, struct source *source)
{
        if (sources->n == ARRAY_SIZE(sources->list)) {
                source->ops->close(source);
                return -ENOSPC;
        }
        sources->list[sources->n++] = source;
        return 0;
}

static bool is_collector(const struct source *source)
{
        return source->counts & COUNTS_CPU;
}

static void tell_failure(const struct sources *sources, const struct source *source)
{
        const char *name = source->ops->name;

        if (!source->failed)
                log_info(sources->log, "the %s \"%s\" works again",
                         is_collector(source) ? "collector" : "source", name);
        else if (is_collector(source))
                log_warning(sources->log,
                            "the collector \"%s\" failed (%s); no interval ends until it works again, and "
                            "the next one begins where the last one ended",
                            name, util_reason(source->failed));
        else
                log_warning(sources->log, "the source \"%s\" failed (%s); its values are unknown until it works again",
                            name, util_reason(source->failed));
}

static void note_failure(const struct sources *sources, struct source *source, int err)
{
        if (err == -ENODATA) /* nothing to report now is no failure */
                err = 0;
        if (err == source->failed)
                return;
        source->failed = err;
        tell_failure(sources, source);
}

int sources_read(struct sources *sources, struct sample *sample)
{
        sample_reset(sample);
        for (size_t i = 0; i < sources->n; i++) {
                int err = sources->list[i]->ops->read(sources->list[i], sample);

                if (err == -ENOMEM)
                        return err;
                note_failure(sources, sources->list[i], err);
        }
        return 0;
}

bool sources_miss_processes(const struct sources *sources)
{
        for (size_t i = 0; i < sources->n; i++)
                if (is_collector(sources->list[i]) && sources->list[i]->failed)
                        return true;
        return false;
}

void sources_close(struct sources *sources)
{
        while (sources->n > 0) {
                struct source *source = sources->list[--sources->n];

                source->ops->close(source);
        }
}
