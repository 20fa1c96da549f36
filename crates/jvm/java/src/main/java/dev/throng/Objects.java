package dev.throng;

import java.util.function.Function;
import org.apache.jmeter.config.ConfigTestElement;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.util.ConfigMergabilityIndicator;
import org.apache.jmeter.engine.util.NoConfigMerge;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.ThreadListener;

/**
 * The objects that a job uses of its elements: those of all users, of the worker, or of the user whose job it is. Made at
 * their first use and looked up by their place after that.
 */
final class Objects {
    private final Loaded test;
    private final TestElement[] own;
    private User user;
    private UserContext context;

    Objects(Loaded test) {
        this.test = test;
        own = new TestElement[test.workerPlaces];
    }

    /** From here on the job is this user's, who may keep nothing. */
    void bind(User user, UserContext context) {
        this.user = user;
        this.context = context;
    }

    /** The object of an element that this job uses. */
    TestElement of(Element element) {
        switch (element.each) {
            case ALL:
                return element.prototype;
            case WORKER:
                TestElement made = own[element.place];
                if (made == null) {
                    made = copy(element);
                    own[element.place] = made;
                }
                return made;
            default:
                TestElement his = user.clones[element.place];
                if (his == null) {
                    his = copy(element);
                    user.clones[element.place] = his;
                    if (element.inside != null) {
                        if (element.isBean) {
                            TestBeanHelper.prepare(his);
                        }
                        element.inside.fill((Controller) his, user);
                    }
                    if (element.hearsOfThreads()) {
                        try {
                            ((ThreadListener) his).threadStarted();
                        } catch (Exception e) {
                            Worker.log().error("Error calling threadStarted", e);
                        }
                    }
                }
                use(element.id);
                return his;
        }
    }

    /** The object of an element that this job only looks at. */
    TestElement known(Element element) {
        TestElement made = switch (element.each) {
            case ALL -> element.prototype;
            case WORKER -> own[element.place];
            default -> user == null || user.clones == null ? null : user.clones[element.place];
        };
        return made == null ? element.prototype : made;
    }

    private static TestElement copy(Element element) {
        TestElement copy = (TestElement) element.prototype.clone();
        if (element.preparedOnce) {
            TestBeanHelper.prepare(copy);
        }
        return copy;
    }

    private void use(int id) {
        for (int i = 0; i < user.usedCount; i++) {
            if (user.used[i] == id) {
                return;
            }
        }
        if (user.usedCount < user.used.length) {
            user.used[user.usedCount++] = id;
        }
    }

    /** The sample before this one is over: its elements are as they were before it. */
    void recover(int sample) {
        user.sample = sample;
        for (int i = 0; i < user.usedCount; i++) {
            user.clones[test.elements[user.used[i]].place].recoverRunningVersion();
        }
        user.usedCount = 0;
        user.configured = null;
        user.context.cleanAfterSample();
    }

    /** The object that is the current sampler: configured for this sample if anything looks at it. */
    Sampler sampler(Loaded.Owner owner, boolean configured) {
        Element element = owner.element;
        if (element.each == Element.Each.USER && !configured) {
            // Nobody looks; the object only stands for "there is one".
            Sampler stand = (Sampler) element.prototype;
            makeCurrent(stand);
            return stand;
        }
        Sampler sampler = (Sampler) of(element);
        if (element.each == Element.Each.USER && user.configured != owner) {
            user.configured = owner;
            merge(sampler, owner, this::of);
        }
        makeCurrent(sampler);
        return sampler;
    }

    /** Whether the user's header managers that the sampler shares with others are not as planned any more. */
    boolean changedHeaders(Loaded.Owner owner, Output planned, Output mine) {
        for (Element config : owner.configs) {
            TestElement his = config.each == Element.Each.USER ? user.clones[config.place] : null;
            if (his instanceof HeaderManager) {
                mine.clear();
                Requests.trace(mine, his);
                planned.clear();
                Requests.trace(planned, config.prototype);
                if (!mine.same(planned)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The one before becomes the previous one, but not by another job of the same sample. */
    void makeCurrent(Sampler sampler) {
        if (context.getCurrentSampler() != sampler) {
            context.setCurrentSampler(sampler);
        }
    }

    /** Adds the config elements to the sampler, as JMeter does before each sample. */
    static void merge(Sampler sampler, Loaded.Owner owner, Function<Element, TestElement> objects) {
        sampler.clearTestElementChildren();
        for (Element config : owner.configs) {
            TestElement object = objects.apply(config);
            if (object instanceof ConfigTestElement && !(object instanceof NoConfigMerge)
                    && (!(sampler instanceof ConfigMergabilityIndicator)
                        || ((ConfigMergabilityIndicator) sampler).applies((ConfigTestElement) object))) {
                sampler.addTestElement(object);
            }
        }
    }
}
