package dev.throng.jmeter;

import java.awt.event.ActionEvent;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.action.ActionNames;
import org.apache.jmeter.gui.action.ActionRouter;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jorphan.collections.HashTree;
import org.apache.jorphan.collections.ListedHashTree;

/**
 * The plan that is open in JMeter's window, with all unsaved changes: its text as JMeter would save it, and the node of
 * each element. It is read on the Swing thread, as when JMeter saves.
 */
final class OpenPlan {
    /** The nodes of the elements in the order of the text. */
    final List<JMeterTreeNode> nodes = new ArrayList<>();
    /** The open file; null if the plan was never saved. */
    final File file;
    /** True if the plan has changes that the file does not contain. */
    final boolean isChanged;
    /** The folder to which the plan's relative file names refer. */
    final File folder;
    /** The text of the plan. */
    final byte[] text;

    /** Maximum number of characters of the plan's name in file names. */
    private static final int NAME_MOST = 60;
    private static final int COPIES_MOST = 100;

    private OpenPlan(File file, boolean isChanged, Map<JMeterTreeNode, List<ResultCollector>> added) throws IOException {
        this.file = file;
        this.isChanged = isChanged;
        File parent = file == null ? null : file.getAbsoluteFile().getParentFile();
        this.folder = parent != null ? parent : new File(FileServer.getDefaultBase());
        HashTree tree = new ListedHashTree();
        JMeterTreeNode root = (JMeterTreeNode) GuiPackage.getInstance().getTreeModel().getRoot();
        add(tree, (JMeterTreeNode) root.getChildAt(0), added);
        ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 16);
        SaveService.saveTree(tree, out);
        this.text = out.toByteArray();
    }

    /** Returns the open plan. */
    static OpenPlan read() throws IOException {
        return read(Collections.emptyMap());
    }

    /** Returns the open plan with additional collectors of rows below the given nodes. */
    static OpenPlan read(Map<JMeterTreeNode, List<ResultCollector>> added) throws IOException {
        GuiPackage gui = GuiPackage.getInstance();
        // Stores the input in the visible panel in the tree, and updates whether the plan differs from the file.
        gui.updateCurrentNode();
        ActionRouter.getInstance().doActionNow(new ActionEvent(gui, ActionEvent.ACTION_PERFORMED, ActionNames.CHECK_DIRTY));
        String name = gui.getTestPlanFile();
        return new OpenPlan(name == null ? null : new File(name), gui.isDirty(), added);
    }

    private void add(HashTree to, JMeterTreeNode node, Map<JMeterTreeNode, List<ResultCollector>> added) {
        nodes.add(node);
        HashTree below = to.add(node.getTestElement());
        for (Enumeration<?> children = node.children(); children.hasMoreElements();) {
            add(below, (JMeterTreeNode) children.nextElement(), added);
        }
        for (TestElement collector : added.getOrDefault(node, Collections.emptyList())) {
            below.add(collector);
        }
    }

    /** Returns the plan's name: that of its file, or of its first element. */
    String name() {
        String name = file != null ? file.getName() : nodes.get(0).getName();
        return name.toLowerCase(Locale.ROOT).endsWith(".jmx") ? name.substring(0, name.length() - 4) : name;
    }

    /**
     * Writes the text into a new file in the plan's folder, so that relative file names have the same meaning as in JMeter.
     *
     * @param before the beginning of the file's name
     * @param after the part of the file's name after the plan's name
     * @throws IOException with a sentence for the user
     */
    File write(String before, String after) throws IOException {
        String name = name().replaceAll("[^\\p{L}\\p{N}._-]+", "-");
        name = name.substring(0, Math.min(name.length(), NAME_MOST));
        Set<OpenOption> anew = new HashSet<>(Arrays.asList(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        // Plans may contain passwords, so only the user may read the file.
        FileAttribute<?> own = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        for (int number = 1; number < COPIES_MOST; number++) {
            Path path = folder.toPath().resolve(before + name + after + (number == 1 ? "" : "-" + number) + ".jmx");
            try (SeekableByteChannel out = Files.newByteChannel(path, anew, own)) {
                for (ByteBuffer rest = ByteBuffer.wrap(text); rest.hasRemaining();) {
                    out.write(rest);
                }
                // Deletes the file if JMeter ends before the caller deletes it.
                path.toFile().deleteOnExit();
                return path.toFile();
            } catch (FileAlreadyExistsException taken) {
                continue;
            } catch (IOException error) {
                throw new IOException("The plan as it is open cannot be written into its folder, " + folder + ": " + error
                        + "\nThrong reads it from there, so that relative names of files lead where they lead in JMeter."
                        + " Save the plan in a folder in which you may write.", error);
            }
        }
        throw new IOException("There are " + COPIES_MOST + " copies of " + name + " in " + folder + " already: delete them.");
    }
}
