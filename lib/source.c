/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "source.h"

#include <errno.h>

#include "app.h"
#include "util.h"

int sources_add(struct sources *sources, struct source *source)
{
        if (sources->n == ARRAY_SIZE(sources->list)) {
                source->ops->close(source);
                return -ENOSPC;
        }
        sources->list[sources->n++] = source;
        return 0;
}

int sources_read(struct sources *sources, struct sample *sample)
{
        sample_reset(sample);
        for (size_t i = 0; i < sources->n; i++) {
                int err = sources->list[i]->ops->read(sources->list[i], sample);

                if (err == -ENOMEM)
                        return err;
        }
        return 0;
}

void sources_close(struct sources *sources)
{
        while (sources->n > 0) {
                struct source *source = sources->list[--sources->n];

                source->ops->close(source);
        }
        apps_free(sources->apps);
        sources->apps = NULL;
}
