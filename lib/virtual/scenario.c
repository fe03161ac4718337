/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "util/util.h"

void scenario_free(struct scenario *scenario)
{
        if (!scenario)
                return;
        free(scenario->segments);
        free(scenario);
}

static bool runs_at(const struct scenario_segment *segment, uint64_t now_ns)
{
        return segment->start_ns <= now_ns && now_ns < segment->end_ns;
}

int scenario_apply(const struct scenario *scenario, uint64_t now_ns, struct virtual_device *device)
{
        _cleanup_free_ struct virtual_work *work = calloc(scenario->n_segments + 1, sizeof(*work));
        double content = 0; /* whitest picture among an app's overlapping segments */
        bool foreground = false;
        size_t n = 0;
        int err;

        if (!work)
                return -ENOMEM;
        for (size_t i = 0; i < scenario->n_segments && scenario->segments[i].start_ns <= now_ns; i++) {
                if (!runs_at(&scenario->segments[i], now_ns))
                        continue;
                work[n] = scenario->segments[i].work;
                if (work[n].foreground)
                        content = fmax(content, scenario->segments[i].content);
                foreground |= work[n++].foreground;
        }
        err = virtual_set_wifi(device, scenario->wifi);
        if (err < 0 && err != -EINVAL) /* a device without WiFi remains without */
                return err;
        err = virtual_set_screen(device, foreground, foreground ? scenario->brightness : 0);
        if (!err)
                err = virtual_set_content(device, foreground ? content : 1);
        return err < 0 ? err : virtual_set_work(device, work, n);
}

uint64_t scenario_next_ns(const struct scenario *scenario, uint64_t now_ns)
{
        uint64_t next_ns = UINT64_MAX;

        for (size_t i = 0; i < scenario->n_segments; i++) {
                const struct scenario_segment *segment = &scenario->segments[i];

                if (segment->start_ns > now_ns)
                        next_ns = MIN(next_ns, segment->start_ns);
                if (segment->end_ns > now_ns)
                        next_ns = MIN(next_ns, segment->end_ns);
        }
        return next_ns;
}
