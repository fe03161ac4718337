/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The load on storages: its pace and which storage a folder is on; with a folder as argument real files in
 * it, past the page cache, and the part with its file of 256 MB.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"
#include "hardware/disk-load.h"
#include "hardware/pace.h"
#include "hardware/part.h"
#include "tree.h"
#include "util/units.h"

#define SECOND NS_PER_S

static void paces(void)
{
        struct pace pace;
        double done = 0;

        pace_start(&pace, 1e6, 5 * SECOND);
        check_near(pace_owed(&pace, 5 * SECOND), 0, 0.1);
        /* Woken late and early, in pieces that do not fit: over ten seconds it is the rate, to a piece. */
        for (uint64_t ms = 7; ms <= 10000; ms += ms % 3 ? 20 : 31) {
                while (pace_owed(&pace, 5 * SECOND + ms * NS_PER_MS) > 0) {
                        pace_did(&pace, 32768);
                        done += 32768;
                }
        }
        check_near(done, 10e6, 65536);
        /* Held up for a minute: half a second's worth is made up for, and the rate goes on from there. */
        check_near(pace_owed(&pace, 75 * SECOND), 0.5e6, 1);
        pace_did(&pace, 0.5e6);
        check_near(pace_owed(&pace, 76 * SECOND), 0.5e6, 1);
        pace_start(&pace, 0, SECOND);
        check_near(pace_owed(&pace, 100 * SECOND), 0, 0);
}

/* ---- which storage ---- */

static void make_link(const char *tree, const char *name, const char *target)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", tree, name);
        check_int(util_make_parent(path, 0755), 0);
        check_int(symlink(target, path), 0);
}

static void names_storages(void)
{
        static const struct {
                unsigned major, minor;
                const char *want;
        } cases[] = { { 8, 3, "sda" },
                      { 8, 0, "sda" },
                      { 259, 2, "nvme0n1" },
                      { 253, 1, "nvme0n1" },
                      { 253, 2, "dm-2" } };
        char tree[64] = "/tmp/joulecast-test-disk-XXXXXX", name[64], small[4];
        uint64_t read_bytes = 0, written_bytes = 0;
        int root_fd;

        check(mkdtemp(tree) != NULL);
        tree_write(tree, "sys/devices/pci/block/sda/sda3/partition", "3\n", 2);
        tree_write(tree, "sys/devices/pci/block/sda/stat", "  7 0 2000 9 5 0 1000 9 0 0 0 0 0 0 0\n", 39);
        tree_write(tree, "sys/devices/pci/block/nvme0n1/nvme0n1p2/partition", "2\n", 2);
        tree_write(tree, "sys/devices/pci/block/sdb/size", "0\n", 2);
        make_link(tree, "sys/dev/block/8:0", "../../devices/pci/block/sda");
        make_link(tree, "sys/dev/block/8:3", "../../devices/pci/block/sda/sda3");
        make_link(tree, "sys/dev/block/259:2", "../../devices/pci/block/nvme0n1/nvme0n1p2");
        /* LVM on LUKS on a partition; RAID of two disks. */
        tree_write(tree, "sys/devices/virtual/block/dm-1/size", "0\n", 2);
        make_link(tree, "sys/devices/virtual/block/dm-1/slaves/dm-0", "../../dm-0");
        make_link(tree, "sys/devices/virtual/block/dm-0/slaves/nvme0n1p2",
                  "../../../../pci/block/nvme0n1/nvme0n1p2");
        make_link(tree, "sys/devices/virtual/block/dm-2/slaves/sda3", "../../../../pci/block/sda/sda3");
        make_link(tree, "sys/devices/virtual/block/dm-2/slaves/sdb", "../../../../pci/block/sdb");
        make_link(tree, "sys/dev/block/253:1", "../../devices/virtual/block/dm-1");
        make_link(tree, "sys/dev/block/253:2", "../../devices/virtual/block/dm-2");
        make_link(tree, "sys/block/dm-0", "../devices/virtual/block/dm-0");
        make_link(tree, "sys/block/dm-1", "../devices/virtual/block/dm-1");
        make_link(tree, "sys/block/dm-2", "../devices/virtual/block/dm-2");
        make_link(tree, "sys/block/sda", "../devices/pci/block/sda");
        make_link(tree, "sys/class/block/dm-0", "../../devices/virtual/block/dm-0");
        make_link(tree, "sys/class/block/nvme0n1p2", "../../devices/pci/block/nvme0n1/nvme0n1p2");
        root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(storage_device(root_fd, cases[i].major, cases[i].minor, name, sizeof(name)), 0);
                check_text(name, cases[i].want);
        }
        check(storage_device(root_fd, 1, 1, name, sizeof(name)) < 0);
        check(storage_device(root_fd, 259, 2, small, sizeof(small)) < 0);
        check_int(storage_counters(root_fd, "sda", &read_bytes, &written_bytes), 0);
        check_int(read_bytes, 2000 * 512);
        check_int(written_bytes, 1000 * 512);
        check(storage_counters(root_fd, "sdz", &read_bytes, &written_bytes) < 0);
        close(root_fd);
        tree_remove(tree);
}

static void refuses_what_is_none(void)
{
        static const struct {
                const char *folder;
                bool systems; /* the unit that cleans up may not write there */
        } cases[] = {
                { "/proc", false }, { "/nowhere/at/all", false }, { "/dev/null", false },
                { "/etc", true },   { "/usr/bin", true },        { "/usr/../etc/", true },
        };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct storage storage;
        char why[256];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                why[0] = '\0';
                check_int(storage_open(root_fd, cases[i].folder, &storage, why, sizeof(why)), -ENOTSUP);
                check(why[0] != '\0');
                check_int(strstr(why, "nothing is written below") != NULL, cases[i].systems);
        }
        close(root_fd);
}

/* ---- real files ---- */

static size_t ours_in(const char *folder)
{
        DIR *dir = opendir(folder);
        struct dirent *entry;
        size_t n = 0;

        while (dir && (entry = readdir(dir)))
                n += strncmp(entry->d_name, DISK_FILE_PREFIX, strlen(DISK_FILE_PREFIX)) == 0;
        if (dir)
                closedir(dir);
        return n;
}

struct fixture {
        struct storage storage;
        struct disk_file file;
        struct disk_load *load;
};

/* The folder as a storage, whatever is below it: the load does not check that. */
static void begin(const char *folder, uint64_t bytes, double limit, struct fixture *fixture)
{
        char path[PATH_MAX];

        *fixture = (struct fixture){ .storage.align = 4096 };
        check(realpath(folder, fixture->storage.folder) != NULL);
        fixture->storage.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(disk_file_name(&fixture->storage, &fixture->file, path, sizeof(path)), 0);
        check(strstr(path, "/" DISK_FILE_PREFIX) != NULL);
        check_int(disk_load_start(&fixture->file, 1, bytes, limit, &fixture->load), 0);
}

static void end(const char *folder, struct fixture *fixture)
{
        disk_load_end(fixture->load);
        storage_close(&fixture->storage);
        check_int(ours_in(folder), 0);
}

static void sleep_ms(long ms)
{
        const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

        nanosleep(&pause, NULL);
}

static void reads_and_writes(const char *folder)
{
        const struct disk_job both = { .read_bytes_per_s = 4e6, .write_bytes_per_s = 2e6 }, none = { 0 };
        struct disk_counts counts, after;
        struct fixture fixture;
        struct stat info;
        double seconds;
        uint64_t start;

        begin(folder, 8000000, INFINITY, &fixture);
        check_int(disk_load_ready(fixture.load, NULL), 1);
        check_int(fstat(fixture.file.fd, &info), 0);
        check_int(info.st_size, 8000000 / 4096 * 4096);
        check(info.st_blocks * 512 >= info.st_size); /* no holes */
        check_int(info.st_mode & 07777, 0600);
        disk_load_set(fixture.load, &both);
        start = (uint64_t)time(NULL);
        sleep_ms(2000);
        disk_load_set(fixture.load, &none);
        disk_load_counts(fixture.load, &counts);
        /* Never more than the rate and what may be made up for; a busy machine may do less. */
        seconds = (double)((uint64_t)time(NULL) - start) + 1;
        check(counts.read_bytes <= 4e6 * seconds + 65536);
        check(counts.written_bytes <= 2e6 * seconds + 65536);
        check(counts.read_bytes > 400000 && counts.written_bytes > 200000);
        check_int(counts.read_bytes % 32768, 0);
        sleep_ms(100);
        disk_load_counts(fixture.load, &counts);
        sleep_ms(200);
        disk_load_counts(fixture.load, &after);
        check_int(after.read_bytes, counts.read_bytes);
        check_int(after.written_bytes, counts.written_bytes);
        check_int(after.made_bytes, 8000000 / 4096 * 4096);
        end(folder, &fixture);
}

static void keeps_the_limit(const char *folder)
{
        const struct disk_job writes = { .read_bytes_per_s = 1e6, .write_bytes_per_s = 50e6 };
        struct disk_counts counts = { 0 };
        struct fixture fixture;

        begin(folder, 4000000, 5000000, &fixture);
        check_int(disk_load_ready(fixture.load, NULL), 1);
        disk_load_set(fixture.load, &writes);
        for (unsigned i = 0; i < 200 && (!counts.limit_reached || counts.read_bytes == 0); i++) {
                sleep_ms(50);
                disk_load_counts(fixture.load, &counts);
        }
        check(counts.limit_reached);
        check(counts.written_bytes + counts.made_bytes <= 5000000);
        check(counts.written_bytes + counts.made_bytes > 5000000 - 32768);
        check(counts.read_bytes > 0); /* reads go on */
        end(folder, &fixture);

        begin(folder, 4000000, 3000000, &fixture); /* not even room for the file */
        check_int(disk_load_ready(fixture.load, NULL), 0);
        check_int(disk_load_error(fixture.load, 0), -EDQUOT);
        check_int(ours_in(folder), 0);
        end(folder, &fixture);
}

static void survives_errors(const char *folder)
{
        const struct disk_job writes = { .write_bytes_per_s = 1e6 };
        struct fixture fixture;
        int full;

        begin(folder, UINT64_C(1) << 60, INFINITY, &fixture);
        check_int(disk_load_ready(fixture.load, NULL), 0);
        check_int(disk_load_error(fixture.load, 0), -ENOSPC);
        end(folder, &fixture);

        begin(folder, 4000000, INFINITY, &fixture);
        check_int(disk_load_ready(fixture.load, NULL), 1);
        full = open("/dev/full", O_RDWR | O_CLOEXEC);
        check(dup2(full, fixture.file.fd) >= 0);
        close(full);
        disk_load_set(fixture.load, &writes);
        for (unsigned i = 0; i < 200 && !disk_load_error(fixture.load, 0); i++)
                sleep_ms(50);
        check_int(disk_load_error(fixture.load, 0), -ENOSPC);
        check_int(disk_load_ready(fixture.load, NULL), 0);
        end(folder, &fixture);
}

/* Ended while its file is being made, it does not wait for the rest and leaves nothing. */
static void ends_at_once(const char *folder)
{
        volatile sig_atomic_t stop = 1;
        struct fixture fixture;

        begin(folder, 256000000, INFINITY, &fixture);
        end(folder, &fixture);
        begin(folder, 256000000, INFINITY, &fixture); /* a caller that was asked to stop does not wait for it */
        check_int(disk_load_ready(fixture.load, &stop), -EINTR);
        end(folder, &fixture);
}

/* ---- the part ---- */

static char said[4096];

static void remember(void *data, enum log_level level, const char *sentence)
{
        strncat(said, sentence, sizeof(said) - strlen(said) - 1);
        strncat(said, "\n", sizeof(said) - strlen(said) - 1);
}

static void drives_the_part(const char *folder, double limit)
{
        const struct log log = { .handler = remember };
        const struct mode idle = { .name = "idle" }, read = { .name = "disk.read", .read_mb_per_s = 20 },
                          write = { .name = "disk.write", .write_mb_per_s = 10 };
        struct machine_hardware machine = { .disks = &folder, .n_disks = 1, .write_limit_bytes = limit, .log = &log };
        struct hardware_description description = { 0 };
        struct settings *settings = NULL;
        struct part *part = NULL;
        char dir[64] = "/tmp/joulecast-test-disk-XXXXXX", journal[128];
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), wanted = limit < 3e8 ? -EOPNOTSUPP : 0;

        said[0] = '\0';
        check(mkdtemp(dir) != NULL);
        snprintf(journal, sizeof(journal), "%s/restore.ini", dir);
        if (hardware_disk_open(&machine, &part) == -ENODEV) {
                check(strstr(said, folder) != NULL); /* the reason was reported */
                rmdir(dir);
                close(root_fd);
                return;
        }
        check_int(part->ops->describe(part, &description), 0);
        check_int(description.n_disks, 1);
        check_int(ours_in(folder), 0);
        check_int(settings_open(root_fd, journal, &log, &settings), 0);
        check_int(part->ops->prepare(part, settings), 0);
        check_int(settings_commit(settings), 0);
        check_int(ours_in(folder), 0);
        check_int(part->ops->apply(part, &idle), 0);
        check_int(part->ops->apply(part, &read), wanted);
        sleep_ms(wanted ? 0 : 2000);
        check_int((part->ops->check)(part), 0);
        check_int(part->ops->apply(part, &write), wanted);
        sleep_ms(wanted ? 0 : 2500);
        check_int((part->ops->check)(part), 0);
        check_int(ours_in(folder), wanted ? 0 : 1);
        part->ops->stop(part);
        part->ops->stop(part);
        check_int(ours_in(folder), 0);
        part->ops->close(part);
        settings_close(settings);
        check(wanted ? strstr(said, "--write-limit") != NULL : !strstr(said, "not measured"));
        close(root_fd);
        tree_remove(dir);
}

static bool knows_o_direct(const char *folder)
{
        char name[] = "test-disk-load-XXXXXX", path[PATH_MAX];
        int fd;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = mkostemp(path, O_DIRECT | O_CLOEXEC);
        unlink(path);
        if (fd >= 0)
                close(fd);
        return fd >= 0;
}

int main(int argc, char **argv)
{
        const char *folder = argv[1];

        if (folder) {
                if (!knows_o_direct(folder)) {
                        printf("%s: its file system knows no O_DIRECT\n", folder);
                        return 77;
                }
                reads_and_writes(folder);
                keeps_the_limit(folder);
                survives_errors(folder);
                ends_at_once(folder);
                drives_the_part(folder, 1e6);
                drives_the_part(folder, 1e9);
                return check_result();
        }
        paces();
        names_storages();
        refuses_what_is_none();
        return check_result();
}
