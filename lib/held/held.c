/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "camera.h"
#include "sound.h"
#include "util/units.h"
#include "util/util.h"

struct held_source {
        struct source source; /* first */
        int root_fd;
        struct apps *apps;
        bool descriptors;
        struct held_tally tally;
        struct holders sound;   /* by the kernel, at the last poll */
        struct holders players; /* clients of sound servers, now */
        struct holders hearers; /* both together */
        bool sound_known;
        struct cameras cameras;
        uint64_t looked_ns; /* time of the last poll; 0: never */
};

/* The stream of a sound server belongs to its clients, if they are known. */
static int set_sound(struct held_source *self, uint64_t now_ns)
{
        const struct holders *all[] = { &self->sound, &self->players };
        int err = 0;

        if (!self->sound_known)
                return held_tally_set(&self->tally, HELD_AUDIO, NULL, now_ns);
        self->hearers.n = 0;
        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                for (size_t j = 0; !err && j < all[i]->n; j++)
                        err = holders_add(&self->hearers, all[i]->pids[j]);
        self->hearers.nobodys = self->players.n + self->players.nobodys > 0 ? self->players.nobodys :
                                self->sound.nobodys;
        return err ? err : held_tally_set(&self->tally, HELD_AUDIO, &self->hearers, now_ns);
}

/* Looks at sound and cameras. If their state was unknown before, it begins now. */
static int look(struct held_source *self, struct sample *sample)
{
        uint64_t now_ns = sample->monotonic_ns;
        uint64_t middle_ns = self->looked_ns > 0 ? now_ns - (now_ns - MIN(now_ns, self->looked_ns)) / 2 : now_ns;
        int err = sound_find(self->root_fd, &self->sound);

        self->sound_known = !err;
        if (!err || err == -ENODATA)
                err = set_sound(self, middle_ns);
        self->looked_ns = now_ns;
        if (err || !self->descriptors || !camera_is_there(self->root_fd) || !(sample->have & SAMPLE_PROCESSES))
                return err ? err : held_tally_set(&self->tally, HELD_CAMERA, NULL, middle_ns);
        err = camera_find(self->root_fd, sample, &self->cameras);
        return err ? err : held_tally_set(&self->tally, HELD_CAMERA, &self->cameras.holders, middle_ns);
}

static int held_read(struct source *source, struct sample *sample)
{
        struct held_source *self = (struct held_source *)source;
        int err = look(self, sample);

        return err ? err : held_tally_fill(&self->tally, sample);
}

static void held_close(struct source *source)
{
        struct held_source *self = (struct held_source *)source;

        held_tally_clear(&self->tally);
        holders_clear(&self->sound);
        holders_clear(&self->players);
        holders_clear(&self->hearers);
        camera_clear(&self->cameras);
        closep(&self->root_fd);
        free(self);
}

static const struct source_ops held_ops = { "held", held_read, held_close };

bool held_is(const struct source *source)
{
        return source->ops == &held_ops;
}

int held_add_app(struct source *source, const char *desktop_id, struct holders *holders)
{
        struct held_source *self = (struct held_source *)source;
        char app[APP_ID_MAX];

        if (!self->apps)
                return holders_add(holders, 0);
        /* its processes may get this id at the next poll */
        if (apps_find_window(self->apps, 0, 0, desktop_id, app) < 0)
                snprintf(app, sizeof(app), "%s", desktop_id);
        return holders_add_app(holders, app);
}

int held_set_gps(struct source *source, const struct holders *holders)
{
        return held_tally_set(&((struct held_source *)source)->tally, HELD_GPS, holders,
                              util_clock_ns(CLOCK_MONOTONIC));
}

/* Until the next poll, a server's stream counts as its clients'. */
int held_set_players(struct source *source, const pid_t *pids, size_t n, size_t others)
{
        struct held_source *self = (struct held_source *)source;
        int err = 0;

        self->players.n = 0;
        self->players.nobodys = others;
        self->sound.nobodys = 0;
        for (size_t i = 0; !err && i < n; i++)
                err = holders_add(&self->players, pids[i]);
        return err ? err : set_sound(self, util_clock_ns(CLOCK_MONOTONIC));
}

int held_open(int root_fd, struct apps *apps, bool descriptors, struct source **ret)
{
        struct held_source *self = calloc(1, sizeof(*self));

        if (!self)
                return -ENOMEM;
        self->source.ops = &held_ops;
        self->apps = apps;
        self->descriptors = descriptors;
        self->root_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (self->root_fd < 0) {
                int err = -errno;

                free(self);
                return err;
        }
        *ret = &self->source;
        return 0;
}
