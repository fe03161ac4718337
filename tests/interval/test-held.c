/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parts that apps hold: shared between holders moment by moment, found in /proc, and added to rows. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "held/camera.h"
#include "held/held.h"
#include "held/sound.h"
#include "interval-fixture.h"
#include "tree.h"

static int set(struct held_tally *tally, enum held_part part, pid_t one, pid_t other, size_t nobodys, uint64_t s)
{
        struct holders holders = { .nobodys = nobodys };
        int err = 0;

        if (one)
                err = holders_add(&holders, one);
        if (!err && other)
                err = holders_add(&holders, other);
        if (!err)
                err = held_tally_set(tally, part, &holders, s * S);
        holders_clear(&holders);
        return err;
}

/*
 * Two apps and a server share the sound; the server's share belongs to no app. A part whose state is unknown at an end
 * is unknown for the whole interval.
 */
static void goes_to_rows(void)
{
        struct held_tally tally = { 0 };
        struct sample *sample;
        struct fixture f;

        setup(&f);
        check_int(set(&tally, HELD_AUDIO, 0, 0, 0, 0), 0);
        check_int(set(&tally, HELD_GPS, 10, 0, 0, 0), 0);
        sample = after(&f, 0);
        process(sample, 10, 1, "call", 0);
        process(sample, 11, 1, "music", 0);
        sample->monotonic_ns = 0;
        check_int(held_tally_fill(&tally, sample), 0);
        poll(&f);
        check_int(set(&tally, HELD_AUDIO, 10, 11, 1, 3), 0);  /* 9 s for three */
        check_int(set(&tally, HELD_AUDIO, 11, 0, 0, 12), 0);  /* 8 s for one */
        check_int(set(&tally, HELD_AUDIO, 0, 0, 0, 20), 0);
        check_int(set(&tally, HELD_GPS, 0, 0, 0, 25), 0);
        sample = after(&f, 30);
        process(sample, 10, 1, "call", S);
        process(sample, 11, 1, "music", S);
        sample->monotonic_ns = 30 * S;
        check_int(held_tally_fill(&tally, sample), 0);
        check_int(sample->have & USAGE_HELD, USAGE_GPS | USAGE_AUDIO);
        check_int(poll(&f), 0);
        check_int(row(&f, "call", STATE_BACKGROUND)->usage.audio_on_ns, 3 * S);
        check_int(row(&f, "music", STATE_BACKGROUND)->usage.audio_on_ns, 11 * S);
        check_int(f.interval.rows[0].usage.audio_on_ns, 3 * S);
        check_int(row(&f, "call", STATE_BACKGROUND)->usage.gps_on_ns, 25 * S);
        check_int(row(&f, "music", STATE_BACKGROUND)->usage.gps_on_ns, 0);
        check_int(f.interval.rows[0].usage.gps_sleep_ns, 5 * S);
        check_int(row(&f, "call", STATE_BACKGROUND)->usage.have & USAGE_HELD, USAGE_GPS | USAGE_AUDIO);
        check_int(f.interval.rows[0].usage.have & USAGE_HELD, USAGE_GPS | USAGE_AUDIO);
        check_int(held_tally_set(&tally, HELD_GPS, NULL, 40 * S), 0);
        sample = after(&f, 30);
        process(sample, 10, 2, "new", S); /* a process that reuses the pid has held nothing yet */
        sample->monotonic_ns = 60 * S;
        check_int(held_tally_fill(&tally, sample), 0);
        check_int(sample->processes[0].audio_on_ns, 0);
        check_int(poll(&f), 0);
        check_int(f.interval.rows[0].usage.have & USAGE_HELD, USAGE_AUDIO);
        check_int(f.interval.rows[0].usage.gps_sleep_ns, 0);
        check_int(tally.n, 1); /* processes that have ended are forgotten */
        held_tally_clear(&tally);
        teardown(&f);
}

/* A holder known by its app is the app's first process, and after that process has ended another, from then on. */
static void held_by_name(void)
{
        struct held_tally tally = { 0 };
        struct holders holders = { 0 };
        struct sample sample = { 0 };

        check_int(holders_add_app(&holders, "map"), 0);
        check_int(holders_add_app(&holders, "map"), 0);
        check_int(holders.n_apps, 1);
        check_int(held_tally_set(&tally, HELD_GPS, &holders, 0), 0);
        check_int(set(&tally, HELD_AUDIO, 11, 0, 0, 0), 0);
        for (unsigned i = 1; i <= 3; i++) {
                sample_reset(&sample);
                sample.have = SAMPLE_PROCESSES;
                sample.monotonic_ns = i * 10 * S;
                process(&sample, 10, 1, "other", 0);
                if (i < 3)
                        process(&sample, 11, 1, "map", 0);
                process(&sample, 12, 1, "map", 0);
                check_int(held_tally_fill(&tally, &sample), 0);
                check_int(sample.processes[0].gps_on_ns, 0);
                check_int(sample.processes[1].gps_on_ns, i < 3 ? i * 10 * S : 0);
                check_int(sample.processes[1].audio_on_ns, i < 3 ? i * 10 * S : 0);
        }
        sample.monotonic_ns = 40 * S;
        sample.processes[1].gps_on_ns = 0;
        check_int(held_tally_fill(&tally, &sample), 0);
        check_int(sample.processes[1].gps_on_ns, 10 * S);
        held_tally_clear(&tally);
        holders_clear(&holders);
        sample_clear(&sample);
}

/* A holder that a partial sample leaves out continues to hold; one that has ended is dropped. */
static void partial_samples(void)
{
        struct held_tally tally = { 0 };
        struct sample sample = { .have = SAMPLE_PROCESSES, .monotonic_ns = 10 * S };

        check_int(set(&tally, HELD_CAMERA, 10, 0, 0, 0), 0);
        process(&sample, 10, 1, "call", 0);
        check_int(held_tally_fill(&tally, &sample), 0);
        check_int(sample.processes[0].camera_on_ns, 10 * S);
        check_int(set(&tally, HELD_CAMERA, 0, 0, 0, 10), 0);
        sample_reset(&sample);
        sample = (struct sample){ .have = SAMPLE_PROCESSES, .monotonic_ns = 20 * S, .partial = true, .n_unlisted = 1,
                                  .processes = sample.processes, .capacity = sample.capacity, .gone = sample.gone };
        check_int(held_tally_fill(&tally, &sample), 0);
        check_int(tally.n, 1);
        check_int(sample_add_gone(&sample, 10, 1), 0);
        check_int(held_tally_fill(&tally, &sample), 0);
        check_int(tally.n, 0);
        held_tally_clear(&tally);
        sample_clear(&sample);
}

static void parses_status(void)
{
        static const struct {
                const char *text;
                bool runs;
                pid_t owner;
        } cases[] = {
                { "closed\n", false, 0 },
                { "state: RUNNING\nowner_pid   : 1234\ntrigger_time: 12.5\ntstamp      : 0.0\n", true, 1234 },
                { "state: DRAINING\nowner_pid   : 7\n", true, 7 },
                { "state: PREPARED\nowner_pid   : 7\n", false, 0 },
                { "state: PAUSED\nowner_pid   : 7\n", false, 0 },
                { "state: RUNNING\n", true, 0 },
                { "state: RUNNING\nowner_pid   : -1\n", true, 0 },
                { "state: RUNNING\nowner_pid   : x\n", true, 0 },
                { "", false, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                pid_t owner = 0;

                check_int(sound_parse_status(cases[i].text, &owner), cases[i].runs);
                check_int(owner, cases[i].owner);
        }
}

static void parses_lists(void)
{
        static const struct {
                const char *line;
                unsigned playback, capture, card, device;
        } cases[] = {
                { "00-03: HDMI 0 : HDMI 0 : playback 1", 1, 0, 0, 3 },
                { "12-00: USB Audio : USB Audio : playback 1 : capture 2", 1, 2, 12, 0 },
                { "01-00: a : capture 8", 0, 8, 1, 0 },
                { "01-00: a : capture 99999999999", 0, 64, 1, 0 },
                { "01-00: a : playback x", 0, 0, 0, 0 },
                { "a-b: c : playback 1", 0, 0, 0, 0 },
                { "", 0, 0, 0, 0 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                unsigned card = 0, device = 0;

                check_int(sound_parse_pcm(cases[i].line, " : playback", &card, &device), cases[i].playback);
                check_int(sound_parse_pcm(cases[i].line, " : capture", &card, &device), cases[i].capture);
                check(!cases[i].playback || (card == cases[i].card && device == cases[i].device));
        }
}

static void put(const char *dir, const char *path, const char *text)
{
        check(tree_write(dir, path, text, strlen(text)));
}

static void add_process(const char *dir, pid_t pid, const char *comm)
{
        char path[64], text[128];

        snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
        snprintf(text, sizeof(text), "%s\n", comm);
        put(dir, path, text);
        snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
        snprintf(text, sizeof(text), "Name:\t%s\nTgid:\t%d\nPid:\t%d\n", comm, (int)pid, (int)pid);
        put(dir, path, text);
}

#define RUNNING "state: RUNNING\nowner_pid   : "

/* A thread's stream belongs to its process, a server's to no app. */
static void finds_sound(const char *dir, int root_fd)
{
        struct holders holders = { 0 };

        check_int(sound_find(root_fd, &holders), -ENODATA);
        put(dir, "proc/asound/pcm",
            "00-00: ALC : Analog : playback 2 : capture 1\n01-03: HDMI 0 : HDMI 0 : playback 1\n");
        put(dir, "proc/asound/card0/pcm0p/sub0/status", RUNNING "101\n");
        put(dir, "proc/asound/card0/pcm0p/sub1/status", "closed\n");
        put(dir, "proc/asound/card0/pcm0c/sub0/status", "state: SETUP\nowner_pid   : 300\n");
        put(dir, "proc/asound/card1/pcm3p/sub0/status", RUNNING "200\n");
        put(dir, "proc/asound/card1/pcm3p/info", RUNNING "300\n");
        put(dir, "proc/asound/Intel/pcm0p/sub0/status", RUNNING "300\n");
        put(dir, "proc/asound/cards", " 0 [Intel]\n");
        add_process(dir, 100, "mpv");
        put(dir, "proc/101/status", "Name:\tao/alsa\nTgid:\t100\nPid:\t101\n");
        add_process(dir, 200, "pipewire");
        add_process(dir, 300, "other");
        check_int(sound_find(root_fd, &holders), 0);
        check_int(holders.n, 1);
        check_int(holders.n == 1 ? holders.pids[0] : 0, 100);
        check_int(holders.nobodys, 1);
        put(dir, "proc/asound/card0/pcm0p/sub0/status", RUNNING "102\n"); /* a thread that ended */
        check_int(sound_find(root_fd, &holders), 0);
        check_int(holders.n, 0);
        check_int(holders.nobodys, 2);
        holders_clear(&holders);
}

static void open_in(const char *dir, pid_t pid, const char *target)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/proc/%d/fd", dir, (int)pid);
        mkdir(path, 0755);
        snprintf(path, sizeof(path), "%s/proc/%d/fd/7", dir, (int)pid);
        check_int(symlink(target, path), 0);
}

static int find_cameras(int root_fd, struct sample *sample, struct cameras *cameras)
{
        sample->boottime_ns += 30 * S;
        check_int(camera_find(root_fd, sample, cameras), 0);
        return (int)cameras->holders.n;
}

#define DRIVER "sys/class/video4linux/video0/device/"

/* A decoder is no camera, and users are not searched for a driver without users, nor for a suspended one. */
static void finds_cameras(const char *dir, int root_fd)
{
        struct sample sample = { .have = SAMPLE_PROCESSES };
        struct cameras cameras = { 0 };

        check(!camera_is_there(root_fd));
        put(dir, "sys/class/video4linux/video0/dev", "81:0\n");
        put(dir, DRIVER "driver/module/refcnt", "0\n");
        put(dir, "sys/class/video4linux/video1/dev", "81:1\n");
        put(dir, "run/udev/data/c81:0", "E:ID_V4L_VERSION=2\nE:ID_V4L_CAPABILITIES=:capture:\n");
        put(dir, "run/udev/data/c81:1", "E:ID_V4L_VERSION=2\nE:ID_V4L_CAPABILITIES=:\n");
        check(camera_is_there(root_fd));
        open_in(dir, 100, "/dev/video0");
        open_in(dir, 300, "/dev/video1");
        for (pid_t pid = 100; pid <= 300; pid += 200)
                process(&sample, pid, 1, "app", 0);
        check_int(find_cameras(root_fd, &sample, &cameras), 0);
        put(dir, DRIVER "driver/module/refcnt", "1\n");
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        check_int(cameras.holders.n == 1 ? cameras.holders.pids[0] : 0, 100);
        put(dir, DRIVER "power/runtime_status", "suspended\n");
        check_int(find_cameras(root_fd, &sample, &cameras), 0);
        put(dir, DRIVER "power/runtime_status", "active\n");
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        sample.n_processes = 0;
        sample.partial = true;
        check_int(find_cameras(root_fd, &sample, &cameras), 1); /* it did not run, and holds it */
        camera_clear(&cameras);
        sample_clear(&sample);
}

static void close_in(const char *dir, pid_t pid)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/proc/%d/fd/7", dir, (int)pid);
        check_int(unlink(path), 0);
}

/*
 * While the number of a camera's users does not change, old processes are searched again only after some polls; at once
 * if one of them closes it, if the number grows, or if it is unknown. New processes always are.
 */
static void finds_cameras_cheaply(const char *dir, int root_fd)
{
        struct sample sample = { .have = SAMPLE_PROCESSES, .boottime_ns = 1000 * S };
        struct cameras cameras = { 0 };

        for (pid_t pid = 100; pid <= 300; pid += 100)
                process(&sample, pid, 1, "app", 0)->began_ns = S;
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        open_in(dir, 200, "/dev/video0");
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        check_int(cameras.holders.nobodys, 0);
        add_process(dir, 400, "child");
        open_in(dir, 400, "/dev/video0");
        process(&sample, 400, 1, "app", 0)->began_ns = sample.boottime_ns + S;
        check_int(find_cameras(root_fd, &sample, &cameras), 2);
        for (unsigned i = 0; i + 2 < CAMERA_LOOKS; i++)
                find_cameras(root_fd, &sample, &cameras);
        check_int(cameras.holders.n + cameras.holders.nobodys, 3); /* 200 is a server */
        close_in(dir, 400);
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        close_in(dir, 300);
        open_in(dir, 300, "/dev/video0");
        check_int(find_cameras(root_fd, &sample, &cameras), 1);
        put(dir, DRIVER "driver/module/refcnt", "2\n");
        check_int(find_cameras(root_fd, &sample, &cameras), 2);
        put(dir, DRIVER "driver/module/refcnt", "");
        open_in(dir, 400, "/dev/video0");
        sample.processes[3].began_ns = S;
        check_int(find_cameras(root_fd, &sample, &cameras), 3);
        check_int(find_cameras(root_fd, &sample, &cameras), 3);
        camera_clear(&cameras);
        sample_clear(&sample);
}

/* A change between two polls is dated in the middle; without rights, cameras are unknown. */
static void source_reads(int root_fd, const char *dir)
{
        struct sample sample = { 0 };
        struct source *source = NULL;

        put(dir, "proc/asound/card0/pcm0p/sub0/status", "closed\n");
        put(dir, "proc/asound/card1/pcm3p/sub0/status", "closed\n");
        check_int(held_open(root_fd, NULL, false, &source), 0);
        for (unsigned i = 0; source && i < 3; i++) {
                sample_reset(&sample);
                sample.have = SAMPLE_PROCESSES;
                sample.monotonic_ns = (100 + 30 * i) * S;
                process(&sample, 100, 1, "mpv", 0);
                put(dir, "proc/asound/card0/pcm0p/sub0/status", i == 1 ? RUNNING "101\n" : "closed\n");
                check_int(source->ops->read(source, &sample), 0);
                check_int(sample.have & USAGE_HELD, USAGE_AUDIO);
                check_int(sample.audio_on_ns, i * 15 * S);
                check_int(sample.processes[0].audio_on_ns, i * 15 * S);
                check_int(sample.processes[0].have & USAGE_HELD, USAGE_AUDIO);
        }
        if (source)
                source->ops->close(source);
        sample_clear(&sample);
}

static uint64_t monotonic_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

static void read_at(struct source *source, struct sample *sample, uint64_t ns)
{
        sample_reset(sample);
        sample->have = SAMPLE_PROCESSES;
        sample->monotonic_ns = ns;
        process(sample, 100, 1, "mpv", 0);
        process(sample, 500, 1, "music", 0);
        check_int(source->ops->read(source, sample), 0);
}

/*
 * A server's stream belongs to the players that their session reported, from the time of the report, together with
 * those that play without the server. At a poll without known players the stream belongs to no app.
 */
static void clients_of_servers(int root_fd, const char *dir)
{
        uint64_t begin = monotonic_ns(), before, after, music, mpv;
        struct source *source = NULL;
        struct sample sample = { 0 };

        put(dir, "proc/asound/card0/pcm0p/sub0/status", "closed\n");
        put(dir, "proc/asound/card1/pcm3p/sub0/status", RUNNING "200\n");
        check_int(held_open(root_fd, NULL, false, &source), 0);
        read_at(source, &sample, begin);
        before = monotonic_ns();
        check_int(held_set_players(source, &(pid_t){ 500 }, 1, 0), 0);
        after = monotonic_ns();
        read_at(source, &sample, after + 30 * S);
        check_int(sample.audio_on_ns, after + 30 * S - begin);
        music = sample.processes[1].audio_on_ns;
        check(music >= 30 * S && music <= 30 * S + after - before);
        put(dir, "proc/asound/card0/pcm0p/sub0/status", RUNNING "101\n");
        read_at(source, &sample, after + 60 * S);
        mpv = sample.processes[0].audio_on_ns;
        check_int(mpv, 15 * S / 2);
        check_int(sample.processes[1].audio_on_ns, music + 15 * S + 15 * S / 2);
        check_int(held_set_players(source, NULL, 0, 0), 0); /* dated to the last poll, which is ahead of the clock */
        read_at(source, &sample, after + 70 * S);
        check_int(sample.processes[0].audio_on_ns, mpv + 5 * S + 5 * S / 2);
        check_int(sample.processes[1].audio_on_ns, music + 15 * S + 15 * S / 2);
        check_int(held_set_players(source, &(pid_t){ 500 }, 1, 1), 0); /* and an unknown player */
        read_at(source, &sample, after + 100 * S);
        check_int(sample.processes[1].audio_on_ns, music + 25 * S + 15 * S / 2);
        check_int(sample.audio_on_ns, after + 100 * S - begin);
        source->ops->close(source);
        sample_clear(&sample);
}

int main(void)
{
        char dir[] = "/tmp/joulecast-held-XXXXXX";
        int root_fd;

        goes_to_rows();
        held_by_name();
        partial_samples();
        parses_status();
        parses_lists();
        check(mkdtemp(dir) != NULL);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        finds_sound(dir, root_fd);
        finds_cameras(dir, root_fd);
        finds_cameras_cheaply(dir, root_fd);
        source_reads(root_fd, dir);
        clients_of_servers(root_fd, dir);
        close(root_fd);
        tree_remove(dir);
        return check_result();
}
