/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* GPU time by process, from texts as the kernel's drivers write them, and from a tree that changes. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "source/gpu.h"
#include "util/util.h"

static const struct {
        const char *name, *text;
        bool counts;
        uint64_t client, busy_ns;
        const char *device;
} texts[] = {
        { "i915",
          "pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t1028\ndrm-driver: i915\ndrm-client-id: 7\n"
          "drm-pdev:\t0000:00:02.0\ndrm-engine-render:\t25662044495 ns\ndrm-engine-copy:\t0 ns\n"
          "drm-engine-video:\t100 ns\ndrm-engine-capacity-video:\t2\ndrm-engine-video-enhance:\t0 ns\n",
          true, 7, UINT64_C(25662044545), "0000:00:02.0" },
        { "amdgpu",
          "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:06:00.0\ndrm-client-id:\t112\n"
          "drm-memory-vram:\t7876 KiB\n"
          "drm-engine-gfx:\t1234 ns\ndrm-engine-compute:\t6 ns\n",
          true, 112, 1240, "0000:06:00.0" },
        { "msm",
          "drm-driver:\tmsm\ndrm-client-id:\t3\ndrm-engine-gpu:\t555 ns\ndrm-cycles-gpu:\t999\n"
          "drm-maxfreq-gpu:\t800 Hz\n",
          true, 3, 555, "" },
        { "panfrost",
          "pos:    0\nflags:  02400002\ndrm-driver:     panfrost\ndrm-client-id:  14\n"
          "drm-engine-fragment:    1846584880 ns\ndrm-cycles-fragment:    1424359409\n"
          "drm-maxfreq-fragment:   799999987 Hz\ndrm-curfreq-fragment:   799999987 Hz\n"
          "drm-engine-vertex-tiler:        71932239 ns\ndrm-cycles-vertex-tiler:        52617357\n"
          "drm-total-memory:       290 MiB\n",
          true, 14, UINT64_C(1918517119), "" },
        { "panthor",
          "drm-driver:     panthor\ndrm-client-id:  10\ndrm-engine-panthor:     111110952750 ns\n"
          "drm-cycles-panthor:     94439687187\n",
          true, 10, UINT64_C(111110952750), "" },
        { "v3d",
          "drm-driver:\tv3d\ndrm-client-id:\t67\ndrm-engine-bin: \t4209100 ns\nv3d-jobs-bin: \t12 jobs\n"
          "drm-engine-render: \t10521800 ns\nv3d-jobs-render: \t12 jobs\n",
          true, 67, 14730900, "" },
        { "xe",
          "drm-driver:\txe\ndrm-client-id:\t5\ndrm-pdev:\t0000:00:02.0\ndrm-total-system:\t0\n"
          "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\ndrm-cycles-vcs:\t100\n"
          "drm-total-cycles-vcs:\t7655183225\ndrm-engine-capacity-vcs:\t2\n",
          true, 5, 0, "0000:00:02.0" },
        { "nouveau",
          "drm-driver:\tnouveau\ndrm-client-id:\t4\ndrm-pdev:\t0000:01:00.0\ndrm-total-vram:\t36 MiB\n"
          "drm-shared-vram:\t0\ndrm-active-vram:\t0\n",
          false, 0, 0, "" },
        { "capacity first", "drm-client-id: 1\ndrm-engine-capacity-v: 4\ndrm-engine-v: 400 ns\n", true, 1,
          100, "" },
        { "no engine", "drm-driver: vc4\ndrm-client-id: 9\n", false, 0, 0, "" },
        { "no client", "drm-engine-render: 5 ns\n", false, 0, 0, "" },
        { "a file", "pos:\t0\nflags:\t0100000\n", false, 0, 0, "" },
        { "hostile", "drm-client-id: 1\ndrm-engine-: 5 ns\ndrm-engine-x: -5 ns\ndrm-engine-y: 5\n:\n\n",
          false, 0, 0, "" },
        { "empty", "", false, 0, 0, "" },
};

static void test_texts(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct gpu_client client = { 0 };

                fprintf(stderr, "%s\n", texts[i].name);
                check_int(gpu_parse_fdinfo(texts[i].text, &client), texts[i].counts);
                if (!texts[i].counts)
                        continue;
                check_int(client.client, texts[i].client);
                check_int(client.busy_ns, texts[i].busy_ns);
                check_text(client.device, texts[i].device);
        }
}

static char tree[] = "/tmp/gpu-XXXXXX";

static void put(const char *path, const char *text)
{
        char whole[256];

        snprintf(whole, sizeof(whole), "%s/%s", tree, path);
        check_int(util_make_parent(whole, 0700), 0);
        check_int(util_write_file(whole, text, strlen(text), 0600), 0);
}

static void hold(int pid, int fd, const char *target, int client, uint64_t busy_ns)
{
        char path[256], text[128];

        snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
        snprintf(text, sizeof(text), "drm-client-id: %d\ndrm-pdev: 0:0\ndrm-engine-render: %llu ns\n", client,
                 (unsigned long long)busy_ns);
        put(path, text);
        snprintf(path, sizeof(path), "proc/%d/fd/x", pid);
        put(path, "");
        snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", tree, pid, fd);
        unlink(path);
        check_int(symlink(target, path), 0);
}

static void drop(int pid, int fd)
{
        char path[256];

        snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", tree, pid, fd);
        unlink(path);
        snprintf(path, sizeof(path), "%s/proc/%d/fdinfo/%d", tree, pid, fd);
        unlink(path);
}

static void poll(struct source *source, struct sample *sample, uint64_t cpu_ns, size_t n)
{
        sample_reset(sample);
        sample->have = SAMPLE_PROCESSES;
        for (size_t i = 0; i < n; i++) {
                struct process *process = sample_add_process(sample, false);

                process->pid = 10 + (pid_t)i;
                process->start_time = 1;
                process->cpu_ns = cpu_ns;
        }
        check_int(source->ops->read(source, sample), 0);
}

static void test_tree(void)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        int root_fd;

        check(mkdtemp(tree));
        put("proc/10/stat", "");
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(gpu_open(root_fd, &source), -ENODEV);
        put("sys/class/drm/renderD128/dev", "226:128\n");
        check_int(gpu_open(root_fd, &source), 0);
        hold(10, 3, "/dev/dri/renderD128", 1, 1000);
        hold(10, 4, "/dev/dri/renderD128", 1, 1000);  /* dup() of the same client */
        hold(10, 5, "/dev/dri/renderD128", 2, 50);
        hold(11, 3, "/dev/null", 3, 7777);            /* no GPU, whatever the file contains */
        poll(source, &sample, 0, 2);
        check_int(sample.processes[0].gpu_busy_ns, 1050);
        check_int(sample.processes[1].gpu_busy_ns, 0);
        check(sample.processes[0].have & USAGE_GPU && sample.have & USAGE_GPU);
        check_int(sample.gpu_busy_ns, 1050);
        hold(10, 3, "/dev/dri/renderD128", 1, 3000);
        drop(10, 5);                                  /* closed: its 50 stay */
        poll(source, &sample, 1, 2);
        check_int(sample.processes[0].gpu_busy_ns, 3050);
        hold(11, 6, "/dev/dri/card0", 8, 10);         /* opened late: found within ten polls */
        for (uint64_t i = 0; i < 10; i++)
                poll(source, &sample, 2 + i, 2);
        check_int(sample.processes[1].gpu_busy_ns, 10);
        check_int(sample.gpu_busy_ns, 3060);
        poll(source, &sample, 20, 1);                 /* the second is gone; the machine's total stays */
        check_int(sample.gpu_busy_ns, 3060);
        source->ops->close(source);
        sample_clear(&sample);
        close(root_fd);
}

/* Closing one of a client's descriptors does not matter as long as there is another. */
static void test_copies(void)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        check_int(gpu_open(root_fd, &source), 0);
        hold(10, 3, "/dev/dri/renderD128", 1, 1000);
        hold(10, 4, "/dev/dri/renderD128", 1, 1000);
        poll(source, &sample, 0, 1);
        check_int(sample.processes[0].gpu_busy_ns, 1000);
        drop(10, 3);
        for (uint64_t i = 1; i < 25; i++) {
                hold(10, 4, "/dev/dri/renderD128", 1, 1000 + 100 * i);
                poll(source, &sample, i, 1);
                check_int(sample.processes[0].gpu_busy_ns, 1000 + 100 * i);
                check_int(sample.gpu_busy_ns, 1000 + 100 * i);
        }
        drop(10, 4);
        source->ops->close(source);
        sample_clear(&sample);
}

/*
 * A collector that lists only processes that ran also reports which have ended, and their start times: a process that
 * used the pid before is not this one.
 */
static void test_unlisted(void)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        drop(11, 6);
        check_int(gpu_open(root_fd, &source), 0);
        hold(10, 3, "/dev/dri/renderD128", 1, 1000);
        hold(11, 3, "/dev/dri/renderD128", 2, 400);
        poll(source, &sample, 0, 2);
        check_int(sample.gpu_busy_ns, 1400);
        sample_reset(&sample);
        sample.have = SAMPLE_PROCESSES;
        sample.partial = true;
        *sample_add_process(&sample, false) = (struct process){ .pid = 10, .start_time = 1, .cpu_ns = 1 };
        check_int(sample_add_gone(&sample, 11, 77), 0);
        check_int(source->ops->read(source, &sample), 0);
        check_int(sample.gpu_busy_ns, 1400);
        hold(11, 3, "/dev/dri/renderD128", 2, 450);
        poll(source, &sample, 2, 2);
        check_int(sample.processes[1].gpu_busy_ns, 450);
        check_int(sample.gpu_busy_ns, 1450);
        drop(10, 3);
        drop(11, 3);
        source->ops->close(source);
        sample_clear(&sample);
}

static void set_uids(struct sample *sample)
{
        for (size_t i = 0; i < sample->n_processes; i++)
                sample->processes[i].uid = i > 0 ? 1000 : 0;
}

static void poll_users(struct source *source, struct sample *sample, uint64_t cpu_ns, size_t n)
{
        sample_reset(sample);
        sample->have = SAMPLE_PROCESSES;
        for (size_t i = 0; i < n; i++)
                *sample_add_process(sample, false) = (struct process){ .pid = 10 + (pid_t)i, .start_time = 1,
                                                                       .cpu_ns = cpu_ns };
        set_uids(sample);
        check_int(source->ops->read(source, sample), 0);
}

/*
 * The session manager opens the card, hands it to the compositor and keeps a copy; the compositor's child has
 * one, too. The time is the compositor's; when that is gone, the child's, from there on.
 */
static void test_shared(void)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        check_int(gpu_open(root_fd, &source), 0);
        for (int pid = 10; pid < 13; pid++)
                hold(pid, 7, "/dev/dri/card0", 1, 1000);
        poll_users(source, &sample, 0, 3);
        check_int(sample.gpu_busy_ns, 1000);
        for (int pid = 10; pid < 13; pid++)
                hold(pid, 7, "/dev/dri/card0", 1, 5000);
        poll_users(source, &sample, 1, 3);
        check_int(sample.gpu_busy_ns, 5000);
        check_int(sample.processes[1].gpu_busy_ns, 4000);
        check_int(sample.processes[2].gpu_busy_ns, 0);
        drop(11, 7);
        hold(10, 7, "/dev/dri/card0", 1, 6000);
        hold(12, 7, "/dev/dri/card0", 1, 6000);
        poll_users(source, &sample, 2, 3);
        hold(10, 7, "/dev/dri/card0", 1, 6500);
        hold(12, 7, "/dev/dri/card0", 1, 6500);
        poll_users(source, &sample, 3, 3);
        check_int(sample.processes[0].gpu_busy_ns, 1000);
        check_int(sample.processes[1].gpu_busy_ns, 4000);
        check_int(sample.processes[2].gpu_busy_ns, 500);
        check_int(sample.gpu_busy_ns, 5500);
        drop(10, 7);
        drop(12, 7);
        source->ops->close(source);
        sample_clear(&sample);
}

static void hold_cycles(int pid, uint64_t cycles, uint64_t total)
{
        char path[256], text[160];

        snprintf(path, sizeof(path), "proc/%d/fdinfo/9", pid);
        snprintf(text, sizeof(text),
                 "drm-driver: xe\ndrm-client-id: 1\ndrm-cycles-rcs: %llu\ndrm-total-cycles-rcs: %llu\n",
                 (unsigned long long)cycles, (unsigned long long)total);
        put(path, text);
}

/* Xe reports no times: a quarter of the cycles of ten seconds are 2.5 s. Usage before the first look is unknown. */
static void test_cycles(void)
{
        struct source *source = NULL;
        struct sample sample = { 0 };
        _cleanup_close_ int root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        static const struct {
                uint64_t now_s, cycles, total, busy_ms;
        } looks[] = { { 100, 5000, 1000000, 0 }, { 110, 55000, 1200000, 2500 }, { 110, 55000, 1200000, 2500 },
                      { 120, 55000, 1400000, 2500 }, { 130, 0, 10, 2500 }, { 140, 50, 110, 7500 } };

        check_int(gpu_open(root_fd, &source), 0);
        hold(20, 9, "/dev/dri/renderD128", 1, 0);
        for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
                hold_cycles(20, looks[i].cycles, looks[i].total);
                sample_reset(&sample);
                sample.have = SAMPLE_PROCESSES;
                sample.monotonic_ns = looks[i].now_s * 1000000000;
                *sample_add_process(&sample, false) = (struct process){ .pid = 20, .start_time = 1 };
                check_int(source->ops->read(source, &sample), 0);
                check_near((double)sample.processes[0].gpu_busy_ns, (double)looks[i].busy_ms * 1e6, 1e3);
        }
        source->ops->close(source);
        sample_clear(&sample);
}

static void remove_tree(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -r %s", tree);
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", tree);
}

int main(void)
{
        test_texts();
        test_tree();
        test_copies();
        test_unlisted();
        test_shared();
        test_cycles();
        remove_tree();
        return check_result();
}
